-- Packed bytes are read for ever: those below are of format 1, as version 1.0 has written them from
-- the rows below.  They hold each form that a column, a stream
-- of integers, a string, statistics and the rest of a sum have (docs/on-disk-format.md).  Never change
-- them; another format gets bytes of its own, besides these.
\a \t
\set VERBOSITY terse
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
SET timezone = 'UTC';
SET extra_float_digits = 1;
SET bytea_output = hex;

CREATE SCHEMA packed_format;
SET search_path = packed_format, public, zbxhist_partitions;

-- ---- the rows ----

CREATE FUNCTION uuid_of(i integer) RETURNS uuid LANGUAGE sql IMMUTABLE
RETURN md5(i::text)::uuid;
-- pseudo-random numbers from 0 to n - 1
CREATE FUNCTION pick(i bigint, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN (('x' || substr(md5(i::text), 1, 15))::bit(60)::bigint) % n;

-- doubles: decimals, bits that are none, NaN and infinities, nulls, outliers, counters
CREATE VIEW wanted_double AS
SELECT item AS itemid, 1000000000 + 60 * i AS clock,
       CASE item
           WHEN 1 THEN 21.5
           WHEN 2 THEN (2000 + pick(i, 50)) / 100.0::float8
           WHEN 3 THEN (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '1e-320', '94.79799999999999'])[1 + pick(i, 6)]::float8
           WHEN 4 THEN sqrt(i + 2.0::float8)
           WHEN 5 THEN (CASE WHEN i % 7 = 0 THEN '94.79799999999999' ELSE (94 + pick(i, 1000) / 1000.0)::text END)::float8
           WHEN 6 THEN CASE WHEN pick(i, 12) = 0 THEN pick(i, 1000000000) ELSE pick(i, 8) END
           WHEN 7 THEN 1000 * i + pick(i, 900)
           WHEN 8 THEN i * i * i / 3
           WHEN 9 THEN NULL
           WHEN 10 THEN CASE WHEN pick(i, 3) > 0 THEN -0.25 * pick(i, 100) END
           WHEN 11 THEN CASE WHEN i % 2 = 0 THEN 1e300 ELSE -1e300 END
       END::float8 AS value,
       CASE WHEN item = 1 THEN 0
            WHEN item = 7 THEN (ARRAY[0, 100000007, 314159265, 999999999])[1 + pick(i, 4)]
            ELSE pick(i * 31 + item, 1000000000) END::integer AS ns
  FROM generate_series(1, 11) item, generate_series(1, 60) i
UNION ALL  -- several values a second, clocks that jump, the least and the greatest itemid
SELECT item, 1000000000 + (i / 4) * (1 + pick(i / 4, 3))::integer * 7, i, 10 * i + pick(i, 10)
  FROM unnest('{-9223372036854775808,12,9223372036854775807}'::bigint[]) item, generate_series(1, 40) i;

-- numerics: counters of 64 bits, what is no unsigned integer, nulls
CREATE VIEW wanted_unsigned AS
SELECT item AS itemid, 1000000000 + 30 * i + pick(i, 3) AS clock,
       CASE item
           WHEN 1 THEN 18446744073709551615 - i
           WHEN 2 THEN 123456789 + 4096 * i
           WHEN 3 THEN CASE WHEN pick(i, 5) = 0 THEN 18446744073709551615 ELSE pick(i, 10) END
           WHEN 4 THEN CASE WHEN i % 3 = 0 THEN NULL ELSE 7000000 + pick(i, 5000) END
           WHEN 5 THEN CASE WHEN i % 9 = 0 THEN 'NaN'::numeric WHEN i % 9 = 1 THEN -12.50 ELSE i::numeric END
           WHEN 6 THEN NULL
           WHEN 7 THEN 1000000 * i + pick(i, 400000)
       END::numeric AS value,
       pick(i + item, 1000000000)::integer AS ns
  FROM generate_series(1, 7) item, generate_series(1, 50) i;

-- items that share their times, all and some of them
CREATE VIEW wanted_shared AS
SELECT item AS itemid, 1000000000 + 60 * i AS clock, (item * i / 4.0)::float8 AS value, pick(i * 7, 1000000000)::integer AS ns
  FROM generate_series(1, 4) item, generate_series(1, 80) i
 WHERE item <> 3 OR i % 5 > 0;

-- sums of doubles with what rounding took from them: nothing, some, a double; of decimals, others, nulls
CREATE VIEW wanted_rest AS
SELECT item AS itemid, 1000000000 + 60 * i AS clock,
       CASE item
           WHEN 1 THEN 0.5 * i
           WHEN 2 THEN (2000 + pick(i, 500)) / 100.0::float8
           WHEN 3 THEN sqrt(i::float8)
           WHEN 4 THEN CASE i WHEN 7 THEN 1e-300 ELSE pick(i, 1000) END
           WHEN 5 THEN CASE WHEN i % 5 > 0 THEN -0.1::float8 * pick(i, 100) END
           WHEN 6 THEN (ARRAY[1e16, 0.25, -1e16])[1 + i % 3]
       END::float8 AS value, 0 AS ns
  FROM generate_series(1, 6) item, generate_series(1, 300) i;

-- strings: distinct, repeated, empty, long ones of one second; other types
CREATE VIEW wanted_log AS
SELECT item AS itemid, 1000000000 + 10 * i AS clock,
       (1 << pick(i, 5)::integer)::smallint AS severity,
       CASE WHEN pick(i, 4) > 0 THEN (ARRAY['disk', 'net', 'monitoring', ''])[1 + pick(i, 4)] END AS source,
       CASE item
           WHEN 1 THEN (ARRAY['up', 'down', ''])[1 + pick(i, 3)]
           WHEN 2 THEN 'sshd[' || 2000 + i || ']: connection from 192.0.2.' || pick(i, 250) || ' port ' || 40000 + pick(i * 3, 9999)
           WHEN 3 THEN substr(md5(i::text), 1, 4)
           WHEN 4 THEN (ARRAY['Zabbix agent is not available', 'High CPU utilization', 'Disk space is low'])[1 + pick(i, 3)] || ' on host ' || pick(i, 3)
       END AS value,
       pick(i, 2) = 0 AS seen, uuid_of(i) AS origin, '2001-09-09 00:00:00+00'::timestamptz + i * interval '90 s' AS logged,
       i AS ns
  FROM generate_series(1, 4) item, generate_series(1, 40) i
UNION ALL  -- more than a page
SELECT 5, 1000000007, 3, 'dump', (SELECT string_agg(md5((1000 * i + j)::text), '' ORDER BY j) FROM generate_series(1, 68) j),
       true, uuid_of(i), NULL, i
  FROM generate_series(1, 8) i;

-- ---- tables with these rows, packed ----

CREATE TABLE double_values (itemid bigint NOT NULL, clock integer NOT NULL, value double precision,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE unsigned_values (itemid bigint NOT NULL, clock integer NOT NULL, value numeric,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE log_values (itemid bigint NOT NULL, clock integer NOT NULL, severity smallint,
    source varchar(64), value text, seen boolean, origin uuid, logged timestamptz,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE shared_values (itemid bigint NOT NULL, clock integer NOT NULL, value double precision,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE rest_values (itemid bigint NOT NULL, clock integer NOT NULL, value double precision,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE VIEW name AS SELECT unnest('{double,unsigned,log,shared,rest}'::text[]) AS name;

SELECT format('SELECT zbxhist.create_parent(%1$L), zbxhist.create_partition(%1$L, %2$L)',
              name || '_values', '2001-09-09') FROM name \gexec
SELECT format('INSERT INTO %s_values SELECT * FROM wanted_%1$s', name) FROM name \gexec
SELECT format('CALL zbxhist.pack(%L, %L)', name || '_values', '2001-09-09') FROM name \gexec

-- every row, by its text, that is not in both as often
CREATE FUNCTION differences() RETURNS TABLE (name text, who text, line text) LANGUAGE plpgsql AS $$
BEGIN
    FOR name IN SELECT n.name FROM name n LOOP
        RETURN QUERY EXECUTE format(
            '(SELECT %1$L, %2$L, v::text FROM %1$s_values v EXCEPT ALL SELECT %1$L, %2$L, w::text FROM wanted_%1$s w)'
            ' UNION ALL '
            '(SELECT %1$L, %3$L, w::text FROM wanted_%1$s w EXCEPT ALL SELECT %1$L, %3$L, v::text FROM %1$s_values v)',
            name, 'read', 'wanted');
    END LOOP;
END
$$;
SELECT * FROM differences();

-- what the first bytes say of what is written today; with another format keep
-- the bytes of this one below, and put those of that besides
CREATE FUNCTION formats() RETURNS TABLE (name text, begins text, nrows bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR name IN SELECT n.name FROM name n LOOP
        EXECUTE format('SELECT string_agg(DISTINCT encode(substr(payload, 1, 4), %L), %L), sum(nrows)'
                       ' FROM zbxhist_packed.%s_values_p20010909', 'hex', ' ', name) INTO begins, nrows;
        RETURN NEXT;
    END LOOP;
END
$$;
SELECT * FROM formats();

-- ---- the bytes of 1.0 in their place ----

CREATE TEMP TABLE frozen (name text, first_itemid bigint, first_clock integer, last_itemid bigint,
                          last_clock integer, nrows integer, payload text);
INSERT INTO frozen VALUES
('double_values', -9223372036854775808, 1000000000, 9223372036854775807, 1000000168, 780, '
emgBAKiHNHYDDscC////////////AQFAAAAAAAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA8v///////3+AlOvcCwYAz/M8z/M8z/MAAKgBDADA0izN0izN
0izN0izN0izN0gAAACgFgFJKKaWUUgoAEQpBAPBQSlzmhNAdOoEzkT1BBAEEAwJOAAAEE64DAAAAI6AfYAgAAAKqTFjoerb7PxJPjev7
fh9AUVzDjXdsdEAz8rwL+A6cKQEEAwDAqf66Bf/Ipo2VAQAEA5gYpp4Hk9sBAAQDAIDlCI+0fwAKBCcV2ySaIbhBAAQCnHUAiDzkN/6c
dQCIPOQ3fgAAAAAAAAAABAMCTgAABAMCTgAA+tfkfhIUmQEHAAAFAkBARIgAgnR9I2kDAgAVAAICBwaCoUjXNgLIg4DZhQABFQQkGAgF
l0iQ2VDUkmmSnCUZO5A83CfiVgOCoUjX1o0klQlfGDUTvqoCBqF4AgEhrgMAASAAgHP4cwIzoXgCAgAGoB8wdHUOWVTtwU7OwS5uQioI
JTUVFhXVEioj62gDWKik9lSkdW6qA1Cb6Tak+X0BAB4AB7PnkgyXoAfOc/DB+5HlTymHZaUm63NWjYInZDjh2l1P3yijxqSrE+fQuh7o
1Pa40NTRu0j8GB/gSmCOZiUE7gRNZmQj12yvJAjqwaFK8VD/R7thZ1Ej7sCxANGXjC5mXPSPu2v3fnKioXmG7TeCP5xghn6e0ts8EZKO
R6kxeEG77GV22xIPACNPQwgm++sxt0fVWJ6sLnXP71Z2z7cKyiMKDLmYBelyAFAEsrrBAmd7AHEJirWXYPYkuvr8ZfsYhJVaB9TEyYHD
SA1DpIEZx6XUPO5WddKawhOW/y+1bM/UzcBLHAJNoXgCIAMGFQP9////////H/7///////8PAz3gYxoB////////CwArhxbZzgT6M/XQ
ItuZQH8AAwCIBIwSVoVh0GACpw0rIgwImYgpOlQoBQEAHgCkwTiQxMRwJo1zOK3NynIvXyXMZaJTpDIVhW6VTmQdpvNrTDADqkKAVU+T
32AanDRNT8jotfVTa8P4kjH1d/fjNJ9VGw4ZKqKN67hWC1wMwa1vtlyUPz5faVvg9xTFDKAMfBq0NVSZ3pa/V2/FJtbXJjZIwlnGy+Zx
corR/GySezNJ3/ATuqiX4Wl4UrdM8nh5+VgxaiBboZoATRlSYQ/bf3WhsbdjKrVSjYJwlpvnsN8/bL46T4phAyX5WeR4Tz1BJn5engbZ
IWKvHHnbNchOY9A6BiCceiRWbMyUabniE1H9U7g/Av8CoXgCIJkuAqjlhIu6vbb3/wHU6vbDutIgDQWs2GhDO4h/RtZxi8gdJUPKPEv0
KwafQjlobejUdGJ6UPGFlwq4aeaw3OSQE0LrzAIcgL7sp4zyoRnIqoCMT1ed06Auqy581nF610KXRJxkMY9SCh/ZkdsZGE0K1wXM9JKq
8syTT1Lzi9cFwDzSFkuPH6GqbkJTylUoCgHuBYrJVDWtuEGCu8Trs4jA5FGnWeCXwaXJpycP75S1zykGzXuxbWCf14zwWZ4uqZkhhoAf
gclyhQ+FvodXKWMtWqXUY0DJd91k90TVKSUdypMg60QfrUClLdBAsqGiyqOLc8QN40jR4i4ANSrzoJVXjEfpScDd0mfg7N2pZKQXHi8n
Gt7jWwAJKzba0A5iAQO+wneQeT0jCxt7O/XSDgbTsfUBWDGzfZViS6BVefVDEMeCfk1wQ1rtq/m0oKaBkLkjBP/73ZwGVdW0lxYBuRJw
ZCIAAAAAAAAAQCAMRGEcSKIsDNCUQggZY4wxAAEAHgCYRAGwKj/n7Z8OcPJ72Jr9vWxRIVjCTd0oFSIkqZOLBcgDQ0a7ZWlFA7jCzJqd
wxrDdd4bJeAHIEqiZiKdVV6xLYVseQXQPq4+eXJ30cu2TyQYtNpRQUA9WCTyaNhEkbzn4u83CPkTj4or0gkDrF9aTgA/BQHPoimnLouI
mKVVUTQGz9ka1WU+kzM7U2ed3dP+1Hhz88LkVMVHWTqivla7IONJDR/VAvDq2YeYe2/32aqX7q2MaI2APDWURmaPZIKYwL8fqXYWcZMU
OsOM18gQhrFUbVdM0PKMJu31YDLZuV6WxXn/Al2heAITAAryvAtHl+UytJskXDHkSnLVEaWPVlyer3cDsME+FadVE5ei9EtTxThhImoy
Do5QcWiELuhCbNdWzLsP3bVMpE8V797IND4lVXTF43xns80AAQG/3+/3+/1+DwEAHgCKQjC2l51c4Vt2plKJ684Gn+ER3t1F5PV0Rdn0
ohZwMf6R3W2DypmSO3F31M57ayyBJt7+Vy/DA1KvcFVhXZgHkZWGprFt28ko3zguyS3zWHqLQVIkAt0yHkFy/TdZgAswCqQQLOx++KCQ
bNFLbtxz0GaGMqoYcSt+rJTJjReY8t2Uc8EYqXfVFAbbnSqmF/vIqyDz841ysY7jfnMy/bWWQIxjI9t1FIePubWcWPZRH0Bt8UYQpjQ3
fsyYQMnjHQFdxoizn4J7T3iB5v85Fw2Wo4swQLsL9NXxZ7bzCQiBJHkVg7zjAiyheAIAEAMAAxvwQz2ri/oIKblzl0wnVF5Qb/egeXnE
D5AEA0z5dTVWR2Acbk4BAQAeAI3D+PYHOBIjFitmXmlRHBNf8ChCxwtm4SieQeeSTM8MWtNXID/CjMQWUyZRTh66pJts70Meax8IVUQL
fGOqtJ/Io/rKbB5ocwuhTBgEFuqVKyvYxBSAsAUYn2mcEOSOtWwxce+LM7iQGMT4z0kFoiTcRYacVNriOwneC5CE3UFhbEW9yhWOszkX
AiXyADfDJJFBRPMUFbEZ4QszAFnjvd4QOy9FGkJL6ecr5rJXkUfoTSqg04/HBhJZDIJidfBSNH2Pj0yHc5TzD2vavtL8hQ3gN911rywm
5u/Y5Yd9u1yoH/sgcGYCWaF4AgABC5gYADILobAWqLkQi815iozj86YUvmrmL2KFHQcyPcZL2h1RtlsalAM9jBv5PqjXxSKmpa513Gk9
VzF6u6ZGt0ibeTqweJR0lW8XNyb45S+4VDsXXgEBAwQAHgAAAABAKGyu9J+suR+E1xcAAgDk5N6cDNW2b0JjtLUQlqDPCcvVAl6heAIA
gQwAAnAADEABH6ACOJAEWuAGhcAJtjAN8AARM2EVfFEazqEfKYIlivIr9MIyZyM64BNCYmRK7URTfrVcGIZmu+ZwZNd7FiiH0QiTknmf
XEqsL6u5CJzH6uzV1Q0BAB4AvwJkVjyO9SMGXpYg4ewwaw7Yqv3PpErIzQ7ZK27La/Xn4/iXqsthM+ENSlPtbDP9JatllA7Y2HrJErNW
4LkRI6bZkjk8bAfixPuEwhGARAgX1ypNGxguGDrYE/+2wrffyxXtHJDpkKbk/T0uR2GZa/l5VQ5dwFMUFGG/FSR2OuaqjxmIeqjBJrem
K3HgVlucMZLi/mvFmSWOHgiXoQ3El0VpEpygWYtW9Q2RSxbGG/XEFs5TEzYDVa+Hs33sOZiqDDW4N+HdKwPLetZektdQiHQk2X6N21Jc
hlgS7V+XUrZhrtdNogIEoXgKAiACAQAeANqk/jh+8HJ4OFd42MSaX/gCBXH1l+CkB4/m2C02l4xNtSymO4LWBkx+vA1oUrjkakRLc9sq
4gXwRMaIFsK1QWsn42gtMSMOd/1xvu5VMUq7JYAwj6WrrD8ghF+gYc8HhNolyV+X2dVMIeaFMcfbCR9WmHhFRjnXRfWDbharLFwE+6+M
FLfqreax5CKbghHsYPUCYcXEM8sUzTWGtO4a0yxRRPrev33CffiobQ8DYwvXOuNNEGmeuRVYRiFsfEwIN2QQCDcQ4/lX/o/RGNOn4D6X
lv2cnRsd3V3F1JkXRBAHSx9KlyECN6F4CgsAAQAOYyURGHKBCAIIBxnfElsuD+KUBGQ806qIxIxSmqfQgrqTeXwnmq5zGXpYyiEOpjP8
AAEAHgAQ3d9arS/4AoHeIMA+bkrpXURy+3+6cCY0klHgngtKmIIRx4ycTJeOVMhe5jdcdhAqjfWs3XIubdlV1AgJ7sAPJXOMOXSWtfxS
Xs+UlS/JPUp6LXNLP2yLN+U9gf2WHqHuitXdE4t9WS9xxW/uiNBD5bFg5LS4hAzzeEkwc6MK9n2uLZ7j7y7EtXZJOu7MMfmEZVm2pODA
NMeLa0Ida7C/13mGAt+nQSD3lL6fFPAXNCMrf9/c7ahzqEw1eW1rmR7BzD8c+OoNhY/0MmfHLybAzklVwuxmMmjyVT9yrihHr4zZf2DX
AhqheAIgAwIhjdP4/93hm5AHAQABAKqqqqqqqqoKAQAeADLxAB4Xo6PNf/0dSW/iL8vxr19gqQdLlmfj6dDU3yi8eKD/kEe9V8LhmUOc
udFXSF+lAu/Wq59LT2m7UY4/mxfM+RPwUDNRuzokj7+sUa+tEd4FuL1u2Le8bIKM9YgBPUE4EGSA5hVOoxpJUhNFW7tWi1sUH1ri4uQq
PXNtLegGP7w6xB/MpJ7W0TbzgeFb+gq01BBHR6jSBySdDfUU908igPt0HGPyqja3iomykX6GyBqbtr9ZxcRz28jAJOKY5APoaF2TMOvn
x2pjJ0oDSJvhX3JW1KvnTHhlioezICu1EvrX5H4SFJkBBwAABQJAQESIAIJ0fSNpAwIAFQACAgcGgqFI1zYCyIOA2YUAARUEJBgIBZdI
kNlQ1JJpkpwlGTuQPNwn4lYDgqFI19aNJJUJXxj61+R+EhSZAQcAAAUCQEBEiACCdH0jaQMCABUAAgIHBoKhSNc2AsiDgNmFAAEVBCQY
CAWXSJDZUNSSaZKcJRk7kDzcJ+JWA4KhSNfWjSSVCV8Y'),
('unsigned_values', 1, 1000000032, 7, 1000001501, 350, '
emgBAMrlBvkDB1UCAQCglOvcCwC9CwAyAOABCAAAGUSJAHcBzf//////////ATEAAZW67zqAoAwAEQH+//////////8BhwEJBRDsn6sD
xCW0kgEACQH4zVPkj5kXrLNU4pNzuxYEgQM4kKgMYhQRBBMmVDItGsRMoCARAxMhYgEBAB4A9hRfxQsySxmnvX3SKP5P+pDW11mq45Ir
iabtb/fEJVg+oxs/h12XQndDiOxQJQ6MuM2PAX6lx1WAKb+uYXUOEI3VEcj0TooL7Nyo0jHPtqc0jd5YDROM1R6rBudnZ2u+77gBMGbn
XrDYiVck0FSni6V2NMMczJ5LpME4ECZRAKwoBGM3DuPbDBrV368AmaVN6o9DdH9rMvEAXpsXDvnfXTaZE3V+Lk5HVk/psnehbY8iDjen
3NF7ueulowmj9PvSFgSBAziQqAxiFBEEEyZUMi0axEygIBEDE6GAQAEAHgAvyCxlnPb2SaP4P+lDWl9nqY5LriSatr/dE5dg+Yxu/Bx2
XQrdDSGyQ5U4MOI2Pwb4lR5XAab8uobVOUA0Vkcg0zspLrBzo0rHPNue0jR6YzVMMFZ7rBqcn52t+b7jBsCYnXvBYidekUBTnS6W2tEM
czB7LpEG40CYRAGwohCM3TiMbzNoVH+/AmSWNqk/DtH9rcnEA3htXjjkf3fZZE7U+bk4HVk9pcvehbY9ijjcnHJH7+Wul44mC3oUDL2h
u4EWHYEDOJCoDGIUEQQTJlQyLRrETKAgEQMTAAQDeaR1IIClhSWnBwlJUggiBFB1NDB3IDeKUwEAHgBx2tsnjeL/pA9pfZ2lOi65kmja
/nZPXILlM7rxc9h1KXQ3hMgOVeLAiNv8GOBXelwFmPLrGlbnANFYHYFM76S4wM6NKh3zbHtK0+iN1TDBWO2xanB+drbm+44bAGN27gWL
nXhFAk11ulhqRzPMwey5RBqMA2ESBcCKQjB24zC+zaBR/f0KkFnapP44RPe3JhMP4LV54ZD/3WWTOVHn5+J0ZPWULnsX2vYo4nBzyh29
l7teOpos6FHwhZwkARMWfAEWSIEDOJCoDGIUEQQTJlQyLRrETKAgEQMbCgABACRJkiRJkgABDYhL1y864qTepltlB+Bq5fNqecT69CI8
xkm1GAAIel8qdSpIt7Ri7AZMzyZDU3jow2jmhhbOujsnmAwBAB4ANIr/kz6k9XWW6rjkSqJp+9s9cQmWz+jGz2HXpdDdECI7VIkDI27z
Y4Bf6XEVYMqva1idA0RjdQQyvZPiAjs3qnTMs+0pTaM3VsMEY7XHqsH52dma7ztuAIzZuRcsduIVCTTV6WKpHc0wB7PnEmkwDoRJFAAr
CsHYjcP4NoNG9fcrQGZpk/rjEN3fmkw8gNfmhUP+d5dN5kSdn4vTkdVTuuxdaNujiMPNKXf0Xu566WiyoEfBF3KShBRdXAlr28y5FowB
gQM4kKgMYhQRBBMmVDItGsRMoCARAwQCCAICDANWVVhVYVWFVRVWVVgFdyi1L/0AAHUDAGJJFyFwi6YD/H+uKsJUVVVV1aBPJtInE+mT
CSXbwNZakZEta1IpeqIlOgKiH9qhG5qhF1ohoRH6oA26oAl6QKADGqA7zelNazB9aUtXmtJPTy6WdKQh/WhHN5rRTMXHYgUAATMCBgcM
DhjMQygyAQAeAPqQ1tdZquOSK4mm7W/3xCVYPqMbP4ddl0J3Q4jsUCUOjLjNjwF+pcdVgCm/rmF1DhCN1RHI9E6KC+zcqNIxz7anNI3e
WA0TjNUeqwbnZ2drvu+4ATBm516w2IlXJNBUp4uldjTDHMyeS6TBOBAmUQCsKARjNw7j2wwa1d+vAJmlTeqPQ3R/azLxAF6bFw753102
mRN1fi5OR1ZP6bJ3oW2PIg43p9zRe7nrpaPJgh4FX8hJElJ0caWz0SALf1e5RRYEgQM4kKgMYhQRBBMmVDItGsRMoCARAwsCIAIBAB4A
Z6mOS64kmra/3ROXYPmMbvwcdl0K3Q0hskOVODDiNj8G+JUeVwGm/LqG1TlANFZHINM7KS6wc6NKxzzbntI0emM1TDBWe6wanJ+drfm+
4wbAmJ17wWInXpFAU50ultrRDHMwey6RBuNAmEQBsKIQjN04jG8zaFR/vwJkljapPw7R/a3JxAN4bV445H932WRO1Pm5OB1ZPaXL3oW2
PYo43JxyR+/lrpeOJgt6FHwhJ0lI0cWVzkaD7AweXQBs8sRcFnuBAziQqAxiFBEEEyZUMi0axEygIBEDE4ET/J9bAADYsxsh1QuJh2jD
F6FRGI0QP+wZW+h00k67bnPt0SkpjjdwyRbDfqy4shbq8IwlkVLHVsTkHfMC5b5OGwZsu8DAJ1kzxvdmj/frpd+AsAUjLYKL4RWciXrg
dSMZ/znkXu0XErWbU02geOdonnJuY4aklssBAQAeALmSaNr+dk9cguUzuvFz2HUpdDeEyA5V4sCI2/wY4Fd6XAWY8usaVucA0VgdgUzv
pLjAzo0qHfNse0rT6I3VMMFY7bFqcH52tub7jhsAY3buBYudeEUCTXW6WGpHM8zB7LlEGowDYRIFwIpCMHbjML7NoFH9/QqQWdqk/jhE
97cmEw/gtXnhkP/dZZM5Uefn4nRk9ZQuexfa9ijicHPKHb2Xu146mizoUfCFnCQhRRdXOhsNsjN4dAEH/jgH'),
('log_values', 1, 1000000010, 4, 1000000400, 160, '
emgBANXHJokIBBoCAQCKlOvcCwCGAwAoAIUGCQCAcrECAAAAAGYa7WACGCkYCYQFDaEUAQAEAhf3HxAw/z8f8QEHd/EDEQfwHzcwDAgA
AQAREA0AJgEDAAIAJJkoCRimEQYBBBQT0G1vbml0b3JpbmduZXQEAQMAAgBUIIUWEYaBKUohoQR1cGRvd24BAAEAM1R9gq4EACAgxMpC
OKC5I4INzFCab3WEm8geco2dTC9jbwZ/icwUhizsy8h+S1zi/igwj9nyp7rzqH/2eaLz5x2RgaZ7dUISLOTaO3+7ziNF13crBnSjGNUW
eQkcWogPr2+15gh+sbLcjxTkX87qFnpaNt7dS+olQ8nw+JX7mKuRWfUf0Cl+I21FxIzOLi1/veoa/FHHxq0m09lEaAKkQll1XTjm0WPo
IGUSvUPZyqbgLJkLCoJlLcrCCtTXb+l3WaonoMmb/2cQxRzkEMEkoQ4NteS5f8KvOaqzI4kivMJab2ButSX/3Fab8xx/8GKTapbTyL0f
jy/zx02XsB6uJX5Eqp1brel7r3Dv3y7JsIYHl5XEQmNrVftvSSL0VWgWGozfStIpn20jHw49rZmQg0X3Q5+P+r3/xJjxNwghAZTEdWh7
5hBqO4Q8WdwEjohQJDvoB5pcdNB5ttdn0vjtXSGkSw5YhmgMuTdpPPx0gEnkXYe4x9i5qs0f8d53QAX42hP0KUOIHGVfjilqBno3VjNw
3tBfWjvz7E5zLO00Y9Bt4MqaFbYVNncC508Q4DJ62GjROPK0/dbwM+df8J3WAbvmnzUQORUhiW6pqxuqDvueGQlEQMMX4hs0Fzyzjwf4
ndvrwqyRKDA/wWpTIPpHVTDZWDw0/TVu9WNk0/D0lbarnc+NO1xuCwEYK+DFzc1QcrsYZM3uTT1u42mFPfdm+kTh7Q/2E/VjvRw4PNML
fCmKtQKTrf7LexgZyhTn6mMopC4OsT1YXkwipb/J4Hlk+N3euV/FhM2WXaV3G86T4gDDb3zZ39Dl3qrWfYq09MEL8iqjU+J4eRM81kWS
Djlf7a17u+0Oyj/i4AEhgKqdl/6eGICq6lUBIQICTpwLPQIYKdcCCYQFDaEUAQAEAhf3HxAw/z8f8QEHd/EDEQfwHzcwDAgAAQAREA0A
JgEDAAIAJJkoCRimEQYBBBQT0G1vbml0b3JpbmduZXQEAgACYJmmmaJSmhappZbGAii1L/0ACO0JAGbSKxeQKcUG5Z/sbLC5fXdQy5Xd
O6VMsf+DGC8AIQAhAEWSGXo747K5NRfZl9EUicORUNyNGmL0LBCOQ0FhOA4SBQKD4SgUAAIUacCAAQIRNVaydeMqtRx+hvwXS94MOUdn
IuwU/eycdlST0OrERd4mPr009OtRuayvfFp1CdnG5nAq5StR2ZroX4TS+0nox98CZmwvY2QR3fSqj0w0C1lWlpcN2YYyPtvkq5Yy93Hm
LUp1qFFQ13n/z4AzmuQBEcwzIZL4V3sAZqqnx8xsfLVuEfYwQdmliNasA0bZPUG6VeLNJBnXzi5uJIJGax80Q7ys3raWqZc9I4MZyHIG
mdfc4UEfzzIaS0P49rF1plH6BUqahLZIHpomCDOC75BD5HF1ZgabSYJU7cm9JBYaz7+8t05mIZPVGOaCGrEKAQABADNUfYKuBAAgIMTK
QjiguSOCDcxQmm91hJvIHnKNnUwvY28Gf4nMFIYs7MvIfktc4v4oMI/Z8qe686h/9nmi8+cdkYGme3VCEizk2jt/u84jRdd3KwZ0oxjV
FnkJHFqID69vteYIfrGy3I8U5F/O6hZ6Wjbe3UvqJUPJ8PiV+5irkVn1H9ApfiNtRcSMzi4tf73qGvxRx8atJtPZRGgCpEJZdV045tFj
6CBlEr1D2cqm4CyZCwqCZS3KwgrU12/pd1mqJ6DJm/9nEMUc5BDBJKEODbXkuX/CrzmqsyOJIrzCWm9gbrUl/9xWm/Mcf/Bik2qW08i9
H48v88dNl7AeriV+RKqdW63pe69w798uybCGB5eVxEJja1X7b0ki9FVoFhqM30rSKZ9tIx8OPa2ZkINF90Ofj/q9/8SY8TcIIQGUxHVo
e+YQajuEPFncBI6IUCQ76AeaXHTQebbXZ9L47V0hpEsOWIZoDLk3aTz8dIBJ5F2HuMfYuarNH/Hed0AF+NoT9ClDiBxlX44pagZ6N1Yz
cN7QX1o78+xOcyztNGPQbeDKmhW2FTZ3AudPEOAyetho0TjytP3W8DPnX/Cd1gG75p81EDkVIYluqasbqg77nhkJREDDF+IbNBc8s48H
+J3b68KskSgwP8FqUyD6R1Uw2Vg8NP01bvVjZNPw9JW2q53PjTtcbgsBGCvgxc3NUHK7GGTN7k09buNphT33ZvpE4e0P9hP1Y70cODzT
C3wpirUCk63+y3sYGcoU5+pjKKQuDrE9WF5MIqW/yeB5ZPjd3rlfxYTNll2ldxvOk+IAw2982d/Q5d6q1n2KtPTBC/Iqo1PieHkTPNZF
kg45X+2te7vtDso/4uABIYCqnZf+nhiAqupVASECAmxJKlsCGCl0CYQFDaEUAQAEAhf3HxAw/z8f8QEHd/EDEQfwHzcwDAgAAQAREA0A
JgEDAAIAJJkoCRimEQYBBBQT0G1vbml0b3JpbmduZXQEAiAIbyi1L/0AADUDAMJJFw7A5QGEpNW7LVcIaVx1XDSVaZVmhDsI8Wch95Xo
CMJTUli+eeRQy1TENAAxnQsqvOsrE8saRxcF65utVWA5dtlxMhBvOoLwYKpLyTkN2Pt4xVkZc3RN4PhVLY6fBwEADA5UFAEAAQAzVH2C
rgQAICDEykI4oLkjgg3MUJpvdYSbyB5yjZ1ML2NvBn+JzBSGLOzLyH5LXOL+KDCP2fKnuvOof/Z5ovPnHZGBpnt1QhIs5No7f7vOI0XX
dysGdKMY1RZ5CRxaiA+vb7XmCH6xstyPFORfzuoWelo23t1L6iVDyfD4lfuYq5FZ9R/QKX4jbUXEjM4uLX+96hr8UcfGrSbT2URoAqRC
WXVdOObRY+ggZRK9Q9nKpuAsmQsKgmUtysIK1Ndv6XdZqiegyZv/ZxDFHOQQwSShDg215Ll/wq85qrMjiSK8wlpvYG61Jf/cVpvzHH/w
YpNqltPIvR+PL/PHTZewHq4lfkSqnVut6XuvcO/fLsmwhgeXlcRCY2tV+29JIvRVaBYajN9K0imfbSMfDj2tmZCDRfdDn4/6vf/EmPE3
CCEBlMR1aHvmEGo7hDxZ3ASOiFAkO+gHmlx00Hm212fS+O1dIaRLDliGaAy5N2k8/HSASeRdh7jH2LmqzR/x3ndABfjaE/QpQ4gcZV+O
KWoGejdWM3De0F9aO/PsTnMs7TRj0G3gypoVthU2dwLnTxDgMnrYaNE48rT91vAz51/wndYBu+afNRA5FSGJbqmrG6oO+54ZCURAwxfi
GzQXPLOPB/id2+vCrJEoMD/BalMg+kdVMNlYPDT9NW71Y2TT8PSVtqudz407XG4LARgr4MXNzVByuxhkze5NPW7jaYU992b6ROHtD/YT
9WO9HDg80wt8KYq1ApOt/st7GBnKFOfqYyikLg6xPVheTCKlv8ngeWT43d65X8WEzZZdpXcbzpPiAMNvfNnf0OXeqtZ9irT0wQvyKqNT
4nh5EzzWRZIOOV/trXu77Q7KP+LgASGAqp2X/p4YgKrqVQEhAgKCQRVoAhgpbgmEBQ2hFAEABAIX9x8QMP8/H/EBB3fxAxEH8B83MAwI
AAEAERANACYBAwACACSZKAkYphEGAQQUE9Btb25pdG9yaW5nbmV0BAMDAAIAVCCFFhGGgSlKIYkDAzYFB1cotS/9AAB1AgCiRBAXgFVt
CKy7IFF0EkmBvibwEbAE8CqakAYC5tcCv29j5CC81I0gHbK7OeZNXEzKDDhClgxezWVMP3nWOynGqBd9EQMQBUNhVP2D4AkBAAEAM1R9
gq4EACAgxMpCOKC5I4INzFCab3WEm8geco2dTC9jbwZ/icwUhizsy8h+S1zi/igwj9nyp7rzqH/2eaLz5x2RgaZ7dUISLOTaO3+7ziNF
13crBnSjGNUWeQkcWogPr2+15gh+sbLcjxTkX87qFnpaNt7dS+olQ8nw+JX7mKuRWfUf0Cl+I21FxIzOLi1/veoa/FHHxq0m09lEaAKk
Qll1XTjm0WPoIGUSvUPZyqbgLJkLCoJlLcrCCtTXb+l3WaonoMmb/2cQxRzkEMEkoQ4NteS5f8KvOaqzI4kivMJab2ButSX/3Fab8xx/
8GKTapbTyL0fjy/zx02XsB6uJX5Eqp1brel7r3Dv3y7JsIYHl5XEQmNrVftvSSL0VWgWGozfStIpn20jHw49rZmQg0X3Q5+P+r3/xJjx
NwghAZTEdWh75hBqO4Q8WdwEjohQJDvoB5pcdNB5ttdn0vjtXSGkSw5YhmgMuTdpPPx0gEnkXYe4x9i5qs0f8d53QAX42hP0KUOIHGVf
jilqBno3VjNw3tBfWjvz7E5zLO00Y9Bt4MqaFbYVNncC508Q4DJ62GjROPK0/dbwM+df8J3WAbvmnzUQORUhiW6pqxuqDvueGQlEQMMX
4hs0Fzyzjwf4ndvrwqyRKDA/wWpTIPpHVTDZWDw0/TVu9WNk0/D0lbarnc+NO1xuCwEYK+DFzc1QcrsYZM3uTT1u42mFPfdm+kTh7Q/2
E/VjvRw4PNMLfCmKtQKTrf7LexgZyhTn6mMopC4OsT1YXkwipb/J4Hlk+N3euV/FhM2WXaV3G86T4gDDb3zZ39Dl3qrWfYq09MEL8iqj
U+J4eRM81kWSDjlf7a17u+0Oyj/i4AEhgKqdl/6eGICq6lUBIQIC'),
('log_values', 5, 1000000007, 5, 1000000007, 8, '
emgBAJDx1EIIAQ8Kh5Tr3AsAAAAIANlFAABhRdy7AgMLrUQDhAEEIAABIAYEAQEgACAIZHVtcAQCIYAiAKVEKLUv/QAo5RABDkCEhQgL
wA+wVsVa2Mr/rgSBCIEIgQgM2PPLz8mHhzn/q/UYnEqB6XmsOYaOmLe+f802++jxtV6iPuT8nu57xz5AJeogSW8QE7qY0vemRWxLIzCa
9+MKvziJtKFk+OGA6ur89Qm/+HHjZ2mrEU3lHU9qLhdyuhbzOmupMR58LfHjWHE2W0AtwI7iFvesV8fA0ItvaLDbUn+WlKSxCDMTzUUo
Y2jJwPhYlwUHGoMcmQRteY8d5awud/qLaNtK9aJUt0g7k6pZEyuzO3mpCmTbXMnVvKjoT9/nx5+Yn3rK/mt2hMH+Om2pugmbE7IUH3w8
uCyUUvz+mozDf4XMKD9rTI/jtme1XJUIXOFf5aznI4EqggswLOXzXrfMpJzxLO5Z393CqphLWOfuEqAfwnMDEeP+UJU+ganuTdjA4g7z
PPRF1KOCd7+uvp6xY3amLV0r3SqgizOxBkeQTRAEDj+gy33mGzQoGQVt0amOeAH2H2Vw1Xm/vgGldXkOS+5RrCTKjMSsWxF1ONGSdkJ6
sSlbhItZUqXKiQFQ/Wt37hRwIT3FF3qFDzPYow23ZqABWKVTrL25VmKc1/CypfZD/LsZaXsf4hab4HGcBMEH1YvgXjAQOsjyX4iJASae
ygOHEhiDb7rsR0wUTKCkf4w0RgKAVHs8OwVkhaTCjvzLTvs6ZCtc9xsckVclX9+9dP8yo8xysUSFV+HSI1y2308kdhFdDv9Jq/8EjPQf
CFQC2RH7hEko/b+MZQ8rgO8nIE+P38/O55dqc72Y0arb1yJOet/PATXc3RcXpqWROaPzFvF563s5o5xqaVJTq4F6gB27jS5FHpG/8FHv
iKmv5R1UqrT7u9hgk8KdVy0voj1F8cugi0yAVwX9YDsJU8Ym5r1SzgJvs4Pd0e1g2Jet6TdQM5YkAEqRX2K4Yp/+AJ2XY51xgcb6dEMy
ECrJZVA5Vgpml5B2iXnwv1EjMXH+1lz/CWrjTDMixMYdgQdpX+n5Hg3ygCIiFkiDpTFV7u6ACwC/mbja126xVEGCOtYy6I/TptIuiacr
mAbPpQVObE8cyeZrvRMKQDniU3p79FibOca7s/GpVULd+y5r6nZy6ERwjeOOpMNvEjT73YQPdc9j9RMxdEzGQOHIGIiN0trywJbj+FsW
hyNzmCwZlbtd/BwINcQXp4dYQgPq0mWiRL9741QD109VUs631ujOwZ/qbPycSLvqxZrkido4gGlJHFOuDLa1OJuZrLsUNiXKSpILgSms
BW8Zg3BRi3XIdn52WMlSLHsP0yXAKEao17N2YvzSFiBG2Nag2EsemPF+iiZ6NQgjqtaoE1XzRoTvZJU9xQ+SSppkJD2XsF4OoD0iQiaA
zUOE5JEqcWxIWupK+X/7Orp7gqOaLtvpaHLUD5f3h+Z7/x+20fXWJ7e0uN5NV/A17SO9veLFIUMCkaVTbLr0QBh2M+0yV56fm6JLe+oh
POAfyH/D+Xb5P5b70BtFsm5jc20Z957ITUmvrVNK1ufQLeOadANyQJxEe4UxHt/4j0aUPmXevrn9tEndQ/6Iy56Q+KMCUJvj6Cp6E6KC
8CkyFcItWcV81144p5Ai8PUDclEUNMfNap6DJQ80bCArckd/NQC4DUnd//f+ic1LmhNeFjHOFk3w2eEl9ZyoYsEeYPNUHbkmIR4poiOa
KfjZYkXAQV0ZdOPbOCwUCEq7tWWltJXQ+yPGV4G0aNG0N7GVwfA0y84wn8w4vQxw2KnnP/ApSRB8VCo3xYInqEwQnDs0OEvDqBMsEd8Y
QcBTGbmHx7q06ilfV1MkfWpX25dumrnStUjHyVtmHm0w7H/NqYLCWDWP+Wfv8hJcdt30hpgFITIHcR5/i1rRsMlqRe+58BBzsjYjfj+s
P/TLVVCupzQ6NSMJzSaV+6kCSMVYI8fDcKMgF3dCdFeQz1POfCEwB3+opBs8eq+Uhs/htSCdESxvYIXdmNuezpibd3kVgMdKrOHtE3Ly
fdVjxaLioJI/Y0YDl1VfXO+TFgnIGRBybOrZIjgLNHbcEhT/GhS53qg6faYYTIiDoUd52gPEmrhU3JPO1sHvSpA62BC7NtffKe3MiMLK
lscjcpJsm31T0+cilJhzEm6wVrhQuQ/tJxzicenA5MxtchFS0WXLcG2wHNvKqlcoXXVzt21KkNvtI2dx+ttgDj0lXOUqQ1r6g0hnou8O
NiwLdyO5OfisS6OH9woB74jEzEZODFagBrG9bfx/UwtOxUI5zw23vIRx4Y8qv2gI9Q3vVV8rStofXpmWPA/9dATNAkPxyVwAx96vOwZD
VykUu84v5SogDd8V5Y05PZkUjg4jlSCK8ksA0oTn2Sb6v8bCHuQnbCVLcwY4nywFay2Pld16KtK0G4g+iPzcmQcKrky4GMdI67RtFCQM
586HykPcnxpBBElDo7iC62+9BgLiU00TcQvifrwbAksm0Bh9gINopkbQFd9AUc5sCyStwfJMYYYVP/9BVtaTYxKlOVyLF98nn9oFGiho
B+EQ94ZjOvp5c12gBYIszGXJFjOtwx2G4d6ikFZLcOAD/QK9PjZW5r1A86nMNcNQ7+S2dGaYUuzWtesRgtNtYV2NmWolNdrALrAW59gh
Jv4IxBRIeTC0iBLpRQAZyCOJKQ76a15BlNiTL7Cm8W6FbXapjIovI7HYkam+vqs3ABhrpkb7KoTzO4cOwaX/XqE784fs5nyzoOwGZdth
x1Zal3+7JuIdbGyREbxzcAtCxEgevQ18EhHxBgI3ii8cGrOzMQ3rTwJKikLor7XUtF+WhxXNe+o3KuXmtB7f3hfXLjLXVg8mKLkDmFTj
gfCUTURGkiElurJVD6mbJLDgoXszhyNKunW4OHqoSaGKpNOSM9P+doYGL2to+5d/yHdKXMdoqqASMiJw554Q2eLzZIHYqfvaVxblAx4e
+Rzl/d4zfsO4AU+D18AzllwRj1Jo2jJUdSPofn0cLFf0OHGmclXZzFHpKCDDxpRs7sdeDl2p/IOYoW6kQqH7cjfsP70f4hS1Y1TFBUQ9
gfhddo6QrFsrszCEA0p7gFP2qrnKagU+emaXfbYZF8A21uUAvvrfAXGjbac42CD9a3eisDEY63k6pqPzssxl2IEyOgPTDj35yYEkq8BZ
E0w3SpNB0soEHIpugHUyzxGDs5+ERWN7ZKReQTOB1CkqJRPO16M5463S3LAES8rp0XOQO2sg0yl3Z7r7KZXAsCiZdJpKRVmLIPGyBmqN
XQDtjExKXZ630Mygn+eHVEKTgRwIcmbHdZYsg83xZZUMMcnxxkVlWDAphLdwXlKQ5MbSoB6HllDGLx3ycLkzPuosbyKGsrVSbaKvWeMi
WDh+oSLldKB+L0PqNjidd6SJV1UqX0VUW8OJDDGDZP4BWaOXHvXMqpd4ZzTXzwXRZuODe9TjqNk09n5tjP1Fw0o12v5LIe87BfJvuGiS
JJUO7lVre0vpiaCLPuh3MWlUU9/Jl6g12bJqWob3sVjyNLGPTx75DVkAqx1GGeoJ3tT10w+9ST0sB7UgL4bDWWNWC9ptFF2Sis95+g0I
VShTM0vKrJLolB5QFlVAp1bi4TvXHNWZL9Mye207CM3Bs4l4V1Y6UqVEO2g2uWRLilkCpWDTdWQTKyfK9fHppe8MxWxeW3Xa7rpboxzw
SJVBZNmxgU/0eU4xkb/JcGMKr8dUx19/DSjI6aYUHY+AfQ38tYPHwDQaLIAs+arvClLqh/B4xTwJC3Ja6q2mmnoX1oVBIeA7dY6ZRLwH
vXWR7cyomopKCF6ZhY5EuuIgEEZINZMxXgEV1qp1TSstWPZ7asjFdZ6gBTns+XTy9rCBch40T3pOrANLNiisRAfGKcV6UZjOUslbnV4j
CSDGZZenWOS4qyUWmwR5xsiw1NON/TeHOh65MUoqJjrNbSIw4N2b35N3R05i2U3HlSw35x2f03dTE//VCuKBMykV6TVob2Rl5VHIrlhS
bu5hxTJjKrUas18mkhEpeDB+6XmSffrEaRfwP8Z/3LllC8uArS/jWap6ZbJcRQ96iWNaZzCRgMZhOgwJHGJRxbUgbfsOlygBK5s510zw
aox2M344mnfrmK8+gyR1WMotHM52zzfSYZ1p49EU3xwSVkNJ6TXDIvUJM86iW/77m7OkbrjIcZ8X/meQwfU+vYZAYQj+8qGtROeDxt6A
RrFLhjm8kf71xnQuisuqp5NmOjz4Qzq1QvseP8khRJhfy8b6r5Hn8pZgYVr3gA1otSEuKNvxSDfVH2G1PXP3+Y2rxAdTcU80sRgRCZXX
BY0dZxmsUFGgML9rv5+7Qvc9O/KKo52TXrRl8z6HzouKJ+v4LyxE/BGSsU+7ab5NVD/oPHh7VN0iZZMQqyM73tLXTiUG8eaZLfqgq5GK
b78FgcX/BsC5uXoUPYrrQ5xgUmJJ9dOHSXdUih4cHDTX89Zn3/6i4bVhgt98lIs1WPBSGqvYfJfXPa3q9ZPXjvHI6iTsb8emkkD9pngT
iK29A/+pS0kpS8vOKf4jmc38Co6astQbdtIRSwi8xUBK+ig8MVegGoqNVrG0KHcLvkiIkTvpoErpV4hx2iol2kVU8eqxeVwKlTlgpHcl
HAbeN0Ts1x9DzKpFqMTBU9D7ke59VEPiXj9uJoyUcp8S7LoU1aTlKlDBlz7j1lIRML8DznSNSiJu3DQBNTdrbiqQNI8a5wW+NigzjKcg
VsTWdhCDSxNcZbHZ1MjqQhZge2kx27i8x0B1Fz/Gaa1i2x11qgSlXJYNt8GEET2ZOX+n68LyZpiH1bHwAqFk+mGbTGgFSLyQOdVy7y3b
tU2NgdeyGEWGIt93oU8FNEAyri/rWhBnwJCmE6ddY67L8UfmWztwj/5mSZtIjqcWarm/eJgLpOeMdwdhXpfcG4waJseq4MYPwAVyGb8O
J3stEIIDHngXRQm/D32vuJzLz07KPbUY3q6KWUtdMvwFnl4t8XXufb9YJCmDCdY/mWhhJt0P7MQDsohNd/UimSx+1SY+ufl9R7AWPP7v
I5B24Dm93eLkXbDk4z4dTiDw3e0uVTNQ2QX7luSLSycsqRMox1M+nyg+fgcB7aEDzhCkAyUBOvqKl/DVC9lIyoZLAwF+JPiuxpzGZjl4
1MG/A54vxt62qKCIjNqTHJPoZnvngtfSiXQP5nviWAVwES4nSMRvxU+VkYIBdFygfiVWigBYME+JIzx8ls14VfsO1gy5rfUJXvc6bvz8
SSZuZpUtfRpTzmiZgqXHPdKsSCa6oJURQIIcBoFyLgPiICLV335dtOy97B8c7Kue68np7SK5NYOBMLJ6NFnKU3B9A2HfDK95R0GL3PJ+
W4WXHMM10itAW8LJlWU5m/F2zcd6L1LlcgxTV4c4d2LpKbH3CHzTCblgorE/hjgocSUno8EvhsiEKnNvvMJcKS98zzVP7bmc5+WkHnRV
7XeRUbIyAz+p5B/xoZ1fssEEYWETPq47TKf09Dj1O9qm8n9HDTzHopaaTd+k0Un+df3Tob0dVCSAJHSjPfkiUq0wYfXStQwyoVOHsUDB
FP8WDKr1VWztL75RuDcV7BvTSd68XXqJX77td8ukS7fxPlj3lcVxRJmhEEF2mu40Z4QkXPO9xHpZ8AFapvdeXNVEgwR68umdqS/2sYYW
YgfrBUnxRe0TNTQqciKmZziq9Rfmhe9R8cCD+hbudAv2x6yKgVEHBPPC450vwBkpnBqjde1YUHvMShK5JKeGe3AioGj24E30vg/7jSZf
iVK7p38jz7pIbOZece1hOn9+IM+tnsnCeHOyj3icRyCHkYJ8rzEWWxkcZd0jCTikatK+7VrqoXKvSTTKE8oG2LwZtjVTn7KFZUKGSlaa
jJABS/ImLzo/RZ7+xyx49bvstSTY9IZjmLrJghpsnmktTQK1bCtV13IpPLcOYuPC+eUrVfdthQ1nEr5YJwiOmYbX3xDFrRZ9YCJwOH+E
qsErXPvv0hgSzIrUMQHsEgq0LSquACybX11CH67lkJ49GPPMCTWKovKrGqkjmHrUHx02dadPFkhIsnBW6XT7eZrMfzS6CcayePenjXDn
iaL2GRu5GCzJM9n1NARZ/Lh/6EGYjlsV6x+O+L/HpCaFOP6stn0XFQjUBWsHrTTLanxfa7wa7jrELAA4wWPcj2Yaer7t11xaeS5LiRFa
hYqi1enyu39B6v2PdU8ZTwjgWJoBnhNVTpXm+fujytOxQuRw1gsLodIGitvGojGZnU3nfPXXMgkdBmaOaqL83q68CgnMVsuHZgZSTjwg
FEQxsQU4fyLjRf4jDScBut0RvNoTvZBrsEZm9hKSrfh6KuFitna2guu6mPO3MHX84aLKMg6+3ronpHMPCYlZwXokW6KyqUJ/0kn0TcfF
6fR2Q24QoFNwPhg5a2/hwitueF1u76OGl7l3ly6+s2xtyTn4oFyMDuCDrIqDoPUv28hNYkN5cIfMlCfuWLETIyZhahtzwg+J5LwfnUzy
tWGOnOlyfVtjjeX/nS7r2d/+afhRVNYNr3L2CGK1axtMh6Vx93mkEYg1bRecKovA7QdYI2igGFjxOkJfj3tWVKIpQ5pPlh6MoIJnXUc5
RuY8dyONehvN5WgRDi4aQni/NX8LeEnPC1DaRQjxF30x5AbbqqrwY7/cq+jjojA6+5c1qy82yYsA+fZ3qranbrXnU+kaZKFmISUqCXta
siQ6C0K0QVCgNL3MIOtbxtk6f4qf0LXGXnWLXcWdOQvkYCwjTIgK7pULBxE158fTjPQwKnYxByO+0Am4Bg3JEasNpx5FaRGcyuuWR5id
Vm5s7V5RrcXbhAygZuv18ZCw/dg7g9fS3nR/ODsddlEXGK+pO/gOLJxVDaXfHAGYA1rdVNrZtktCrPrM3A2lB747cHWwLxalgL3atmDY
tRefj3IqrA0BGKoGOmEcdVv4sxbzGFIwU5RmMJ14MAVd+kp9XyqNNCXcEgxsXktyNlNgcfn2/tC+fD4dJZ30aY4TDa8GOVkxbi+BU6dH
hq/WyJCEjzdaCM/Qj0uFCEfh+rbFjpJoPy2ryq8pgWELM0EL4YH5149cGOrMQh7qXHiNzGd7k0xMWsVrH5Twz/M4xyenMA244z5V0h95
9iKukvJUPN9VxMTggk1iMX5Jbmje07IskNc3wob3qP1OUN++tEPGh/mfVmxBLfon8M6XeH3m1mLcyrobnW9LgLASmO5rpnhESrqRA5nj
GT7LzfLzYGVCTvTBUFI+Y91cgerpgVfrmk/9bmP0xm6lbPU74CxPACIQoMt6TZTM/uY8V9YqX/aWjgcBS4I6CKqoEBoPsiOc5csYGOqi
IrCKOWA6HV4gSr20aEef7DBd85ihiXe2zDBWnIoECPTTmULSM1fDNGde9HjCs73mi+LH/JAKQFWjbTRuIwusPDyVp1ivOpMbepnq2310
HlH4ldYnujMxBtowNJbxoDV3coxHaxYo7X6tgGiUrMcF4+zX0/IrvgnanYlNTuhm9GDaSDFNIGw5sFdmT6WedI0rgV4hKujxUClascDj
fhFwQ0EjomIW1YCYhgfODk77f2u2lk+jpNiW8DHNE4swo3l3k+yjH/nEDS32a/Gj0VQmu4YW0qI0Wbib6+Qfdthqvu0/d5ye7FE/xBJr
+8PA7mQ0EdNYpd9skjxDxqEO4epKM+cOx6L8vCmE0ZIKVou0hgk+c2HKV09ZHIcm3ft4SHRjYRh/ehwJ+3ctuIy77HeJieV+AHmXNPc3
vubKEtsYl2UnGHKXMdRgSF0LL5S7tMcxakPQ4mXaVJPNWbElMLodeU7QIwI+snPb++RHnFXqjB0BgZwBJRn08qD9otM3vVaRkzE+N4bm
AgntTJHeQGeZkgMGF/VPboXFYC1rCNz4tgmTeoDRZc4mRRoltD6EbboghWNCmp21JQZU2/hVLFDH43XH2DpiC+AaXwoLVmLGeQ/jnKTm
fVAAmvK4b2tSUWYtz+BKitA5C+dO+gu50VwzkghzEjDP6h9ouqxMoQevl4+xjSgGNyrpyVoDBHwHMceXxXUp81jKxlefQnpxM8mq6WET
m/rRypE9I0gz1nkgLrdEOuHJAfMIvYlYl5Nzx5H2vB6eWH3s/Az8NEG7Gpenur2DP+dP6/x0vwadZLEn4wkz34sBgReHN3TuOiWVrfq9
rdT9a4e9Xn2pB0mWLhfKhEedE+rJjcJh4QKNxtiNv2BcpBDke8Nd1c1Tct5oPIU7xc7T9C/HauFOgFegCCLwZqHPXH40zyli2mKaQYTl
tkshIkkg8A9tU/SOz2fPK9YRb77bQ+sPTouGfeYHCXyxnD9w4V9Kl0oFCE/Hs1hi47FpQmLVZCHjR6vPxh7U1S82Q/8RNEVbUvUE7Gpr
fI2yCeitvtYMKxhrR2HoWK79U0V1YFhF+n1Oom8Ez6o6RnHIZSWtPvfJQmsZcliUh/cKIdhbRKlEXvL8dAk5/hUzft5n/gzHa5PvpAlh
68wbfHS21uwH2+Jh+2iUL+ze0iREJLl4mZylkZRpHuBEq9tA4aCFiW7/eG3/ZeKZtJE6h/C3PI6PuSeXDoNQRLWnyUIDdDi9PKMw446u
9/8shyiQmdJFwiCUpX77Q5er7IYIR+ntMCeeiopmxgdivLthjYSzDWA/F72QMB6t1rnovWkYNUofOZ9SzJODCdNq8WCiJyyeRdDnD8ZW
1VPUMU0mCGQd37By66wqR2qBfA75HBECMoRjLq7DR5jpGmfCHjfJCiSRZ6l3fYAjkmVpmzi9hVVBvDmEgl3HSmNmNkCVxWSyAwHpdNJS
nwfbaV41uFNwJ9mnMdT+rPICpmJRq/L+JzAlU6oEa4J0KOjjcmfSjRmfUYuToDkPF7g9VyCmoZD4TQ4y/SBHJxoSfCFis0YAhbNA+ozJ
x6Ddu+hJa6fYDawaH42+DGDTyX0LELN/Vo9sKknuOQpwbOKpJUK3tpx3+pRNj4lZTDCtrtwgySC3iMhlOwgyUidIOQ3rOoXDgiwe+YLj
sPcQTPqFovZ2ZmIXWWDlXmf7dmG2XkOMnPUGZaYuF8ANzkuxE5igekuM94XPMFR9PUaLVtqiuRt5kieAmg1LRKtIirbbdIbwD4DPEZ0e
5UeIK/H+sD3TttrkxxyL28zfxBl1oRAZFo4g/aAfEzrIk2eStQAG+XE+f43VLC3jglnyGq9T83+O5TviSzO/XCiwDohIPiz3BkGuHe6R
Lk65qRotPEOIZ8JgwT31Luaw30hSKy8P15iYYfbRw/QnQqxtSPy5LernhTFMRTlWHkymaCHDK/GyGHVRpdEoHsndTHBi/A8UTEjTLuL2
VIAqkIhVGmWN6XHPY4h6ZHuw1SnVW13+4Cn8DxZd2Z++vv9pu27QvQdYLWLSPgtZIZ/HvAcavnLa4EMct1MM9d/9qe9NVCzkONUSER/E
8MOWg8O1GQmoZFp1yY+6gbgw5B4JhnnpL0W4rwsy+G/NyGJsSuadOnqMoBHuENi9R4X7sttjAnXGYBO/dXL01krWsilaqLiibG9ft3ll
SVPJ1dKpX/JKzKB7myV4T5bOrg3P8YYxW/ynbQ/ComxsJle11A2n4psxw/hBRLD/DINRrP8FqooDZ/ZSApN0ogDZ/dWudLUr0rS2N0x5
GyzEvG0rBIY1Ncy+wTAGTS8xEf+BCh6fSBjp+K7npH9eyCmSSbvWp5MF2OY6b3/ek/t8jD8Hdb5bL4fmLI2aNRyhisAKTPORurfSYqZJ
HlxhHHerRf2aTsdVlYXREgMN0FcI49f2GTQ17M0ejobBZYXAErUSwx4D73vJYC+eZ7BoH6vT3W5spnd2kTExkPusxR5sULWY9zBKwLEH
+ouvJdQ7iTfSQamc3NuyCKlexVV5XT4xsqMdVr+OY7qfVXNZ9dI222rSADZBXYYADKUPFPwhmNHan7qyy9FAvyucb39ijFOFIHRbXXCm
eh85nAIQzjTAqXJwIhCe5T3YcvekXeW5I0whgOG7NNr0QISqSk9nM6bBxrTMo8pXz4tX1PDBdqoXrmIaT8GVZCLherQyCS+cpJnwb9Ev
Yz//vEoRAo6bgAYewqTm5mV7YnT0w+t3te9d6djgTOCAMPcSj+ZOtEEqZvizLZMUEZIAT929/g9Zyw9zcqIV7ZsrSAAgNxHmDFX3EYfm
DAu8T6BPPoSI9EVYxPmZHpCxhLqr5ZcIPEoE69dSSTwGwA/Dp3VfTMNGu0b6wUTjVqKd7fvZiquVjKqhRQmVqagxY0o8vJ8W/eCOD/PR
hqo4mWudyauyR4yfv6hwpUNxEU5z+AkRutkR/yBlHR8ARiXilsvlV6jcVvBcwFBDxc2g4DgDNIhf1xa8LhBMlr+P6wx4wNd2HzsdX53f
VsDE9+R4UluhaFlYNP9mG8r3PqRy7Sha92w647hRabgINUSpRad8z5Vkx3DBLtkKaKaIJSNkkzhMq9rwwn9DnAzQFwxWpIbezYTZxVVG
PQF5bsshZ1nRhmFpHaCOoCx1oLn40Nj1aL+/xL6LT6TfeacdD8H+2Dgt2c4PXcuIEaOsDZV7TzEewEPhp4Gt2l/S6DlbAmOW5GkkgdAZ
otLDos0rLmKKxOSext+7/zhH3TyU0ILz+JV0vigEB4Hzrihv+IJQTTlnZnM8us9kjxAT8c+eIObH0LUrew9EoEAMxt2Wb16/zGi7BpgW
MorbBdiFWDzsIE11QzjNmQ7WuNuzb6NpG5MAszmc78TEcszn6OO1e+IIjM1Hq5ZcdexzuePF2ZuZfd/UVM1+pVGha7+T4EJmEkifvqyG
IHiG6sKx1HIkjKvxwypuwk70BoPWycjFExTC2H2EGbtmjFh1jhhLr8gjMSHvc+jrk3xYhcjBzwDjyyJ38esTF+8dkGEpJDzL0pzdHHnS
xJCAzIMLl6iOB3woZX9GQJ48nbEdh2V6Z4dB46H0vpH5pTl8ZxvhwQp777FYUCNCoJNaXIk23M+A7t/0EYG3Zel/F4C8LBDRQ2Ugo5uK
c3pz0FAfU38baSKgpNdoeSjQ+g0GRwtwZi5RXGzH0qGh7n19+Wp2jbAbWtpt8/+g1lAeWh+5tfjtU1pORUemdiv8H5FbsutdJ46JNJTM
RZllYkqGXZVErLK/GtfAzhRboQbVJeQ2DjtlItFcBKZLRIPFKkI/MSCXHWBFTAujJE0knmtMyl0w4AM7LIp7E2Qa5pnsAg3P/pcXNODg
LAnyrLgcSWRsAAKydisYylo0JIbOkvlnd7SHlMJ8uSlwzG3ck2bP1zMfG2ZlOppp/hPajLG2FGaGz9M5/v5v4NQHciF/IkMsoTWfTJ+R
MYSKk1NRiXnaXo1EaO2WyzM3XkElBaCF26rVTxnYM3t8ZCTvk2KB0Q49pekREBS/a7gxbVjzfmHk9g9uFb5FKgeWrDXDCHB3VuZfiMCk
xA6YJnyM9JMgrFa8SrsAbxWqQHH0OhNs/eKH15TonrunU1aMhl5nWj4RaBP9VfWIQnh6y5c0/8wYQkEnBpcX+kTLQqrrWfNbZ/rKFRco
VyK2PjQkZ+/KYzw4VzqMLOtjFZXECwMq8WFOpAYuzN5eVj5ufi4inXJCUoogzu94hpVP4tWb/dCdJv73wFz3wV7tbkLndfScVUixHMjO
FPXh4KkzSDoD9V539DX5TVsxD2rD4YBYHVEoKwBh5ARJICK/xuOGcyElX9ztUgdbuBT2hnGB0KGtYeNKeB/kF51eAQABIAIEACAgxMpC
OKC5I4INzFCab3WEm8geco2dTC9jbwZ/icwUhizsy8h+S1zi/igwj9nyp7rzqH/2eaLz5x2RgaZ7dUISLOTaO3+7ziNF13crBnSjGNUW
eQkcWogPr2+15gh+sbLcjxTkX87qFnpaNt7dS+olQ8nw+JX7mKuRWfUf0Cl+I20JAiACASECAg=='),
('shared_values', 1, 1000000060, 4, 1000004800, 304, '
emgBAMgYgZwDBDYCAQC8lOvcCwDIJAY8D/BABRACCA8FAFgABCMy7h4AAAQTCpYGAAAEI5YBtFsAAAQDAp4BAADeX1K6AwUHAQACAiEy
MiFKhoyGAwUHAQACASEKCiG8cXpiDhAHAQFP77333nvvvffeewICiQFLlgECiIiIiIiIiAghmxTYGwMFBwEAAgAhAgIh'),
('shared_values', 9223372028264841217, 2147418112, 9223372028264841217, -2147483648, 0, '
emgBAQe3d3sCARmCgICAwP////8BvJTr3AsAhCUAUAC3AgAAuZ91LQKheAEAHgBnqY5LiQMjLrBzo24AjNmYRAGwTDyAhzjcnM7g0QWb
TsFhPI71Y1L5ofHKd8pJTKeSb9mZuutjCSMIHeMWKncevB9ZbhNrfpF6TW80HfHQUNlVMfEFj07zKzIDEyObwWSueZnoFLX/pwuM3UN5
hlVxPHyu+P4dXZMKpkNe+cNWsMxvsyMkqZM6NPW38R9rjv3FWwOclQZr9eej4mBmqK8OCrrl2up2tw3q22r4OQ+/26Z6T0O6OnFOGzD5
Qci0h/Oj6X40JmwDZRLlpPtXyojHDUK9JmasBidNw2UHoRIhrnapqprEVBpDeHc+jBaTyEP38XPp9pXnKuAHIPbq59L5QXt6FPx5rOYO
LMoSs1beS9pceoz2cslhHoV1YR64IfNiggnOoo5mAkzQZEY='),
('rest_values', 1, 1000000060, 6, 1000018000, 1800, '
emgBAGSeT+MDBpkBAgEAvJTr3AsAlIwBAKwCABALAKCKwhUzkzIABBMKrhcAACzSDiOgH9wHxBQHONZEAgAAAAAAAPA/6y830QxSMUAV
p/beHCGrQAhZ8/jCH26lAQMAwg/tYwA8hdMBBjzNzMzMzMwjwAAAAAAAAACA/f////+tksAIAAAAAAAAOUACAIDgN3nDQcMAgOA3ecNB
QwAAAAAAAAAA6SOdZwIFoXgCASEKCgEgALtHBuAC2AKheAICAAmgH1zdDi1HyuPY0l/KmkxFKqD7aYwTkCDoSa7POKsk9vwXNNQtaSNY
QFedCcQN3ezERT9iXmiWoyShW+J2VKrWUezQL11aLfIxgy5lmd+BswKXgtAGtSfvWfz2dc04nuVSCloDVSn+tE4R+BMIBUaNSkph4S5N
9kcth6kt+ls7Uo5JnoiF14aJDL3PBvwbE/NgYJjOquMjh58wipB05eak10n6iL7PsDEoymr6KI4P/aq7emQx8Xc6nsAQcjGojSgCnE8N
YPvyM44VtDdoxEDrfxTRMC+wrDMVmlLd9YxaPKClY6jL4XY10XzlgeWySW4VCa6bUsPjndJK2KHmn5SVfgIA7a/jP0BcmuUcosfN4K9/
6+Ax2ewOGQ9zfmYshPoogUroGpkA3lxQ23ytsbsjxtiPbPwokAogAlJDDEJ6LMS+R+EyulIhh1NM1+aE7CJrxNIHASAAOedHPwKODqF4
AiCZLwKAgICAgICA4P8B9pC9jK7ZAw8Ekpe39TgZUbaIiDvHxgO46YewDQpaRYK7hJh6ENsKnBEoYVSgepIv5brxP3JR+K8YtxLK8kTT
ty10WtpOzuS4qMkhLWhdSbMR9MOV9bBa+3h5LKwzpHfv8pmR0OtT7ZfbZ/UB83KeXnvTN50Am70jW7SwljU2fT5594JwpknYWmUkd+Mp
t+iIL3Ve9hjAu4tK7v/dpzI0rwjuy0aygo/WmcdBcRAbdmLM+23Nv1MThqo+VzvBU0/R4TeU1aR3Lon7EFEoPYwp4ydmJmlvotP/hlNI
q1leuAxww7RH4Vz5WDqO3yJIKOX++9sdkilvvj8VyGD1lzeSY2YKRv6OsXHbk2yryM5TJCRIRPzoV4EdJlJs/ZILNx7ATT+EhWZXj2DB
aUojllOgehybzfxvt79pjegnGvHMqOm7XqwGq+/Z5NbDUvWw102UcHnZUH/8HzwYG3vNxR3xAsu+vm4q8Ka+TfdmczdGnpMQPBPxypmZ
70Fs4yotNJ31MAFZDUY8GCI8/pP/SxBdu9nw5djnwh7xcrljlfx0gTcNqb64YDYHOoRbHgcO1lYtcEjB4HYWMUUcsyHLdF6ZPITlNVyV
77tijvfM71qJGcFX+6v0X4r+QlU6zkDnRSrpUxIA9pTk/zHvZIqI9xGiJ0V7bfZ+jvJVum2iRLmzjYEIoRh+f7niT74YjfihJwKZ+fSp
E3ng3snBCYyNAXXX5J1LLhZnspi6fEIxAfMcmIGXSJ3HPDNL8iEl8VMltlmEq4eSbI1D8jKJF5IOKJGktnBre0Ty5FQsOSDxhG0bHo+g
aZSpEUewaqoJSyPE0v8Ph5Hi8p6EtEivon/bUoRvw3jHJRL01AIXEZEvA0eohzx3eQ5kQyJmcLx6IekokBaikKGNTJVDCDh2FSYbJKkQ
u0sKgiIglIcDgf0KRveAPE5NqhZAbGwDetkfDQZjHtSPHfiM5t2Hsjfl8eiDerGJgfGhlomcSffwcKl063oIVzIlGj2AzCPRXx5oqBGL
GY8nwsC3gQdQ/Cdlu+MgfSb/2hHlycAp7FCxCeBrdRARwl9iOgaUgd0HHSh4X39vDnd5YKQthyEWeNKRAzvpN3DG4VZb9v7hACMNj2Rw
BCUcoeU31iFf48wbC3U6rdMNNygGjeBGOr3TrWtDWiiGkLORH3D+p9hg4EVNxWt0Yc4CnDXscZIIqxrnmK8zRI3odRiHmcal38aESOMj
MzgoouESlpcJ0Ojx5cyAZ0z5JAZ/M3r3PyGfGcCDRYa/jAjf8NBXxkz1t/gnY/LDFQmS4ZbgKw3IgPsfBIxjHGjdRYkxwpIkiqYYFsLR
WkSMNLUayRoGDOKvuglj6J1+DIPhB8/Vn8CQSgq03V9UT7g7ti+abmMMvxdB2dyb0Yt5J8Hn4cXWwy2I7aKvROIRdfEzyqKxuWCkDA1u
XMzLNxQCLiIzIcjmFl85Sl5mi++mrrmsBYKEuyjT4rROlP1nkS4hAjWzqCKxaDZZzOuljGksqOkQJBwWyPNg2QELNSpx3HoFWVkPbLrC
3Yvkt1thqa1UHq2YWS4TMVZ01K3Y6SowzabAXRVxcJZgowppT1f7S8WRzJUoo8Idk2ksUFF+xpRjp4CmqiBZU1i+nI2AKaS4BW6qFFFN
ql5Kiq4+EM0fhYJaSjqNYshBcUlF8c6FEPyh0N1ZS6pQFPjpkSso3L/9IwEUiAHCUfYJDTHHEfaE5dbLgXiCwyOO/zrhuQoy4JwonV7Y
IE6YvAQQ6Sb4OKD7YBN0u0jIpgm79J2RzkRwz57jZIK4IDtBMYEYhFIJmKgB5YG5S5zyqWu3JTS0DSrJEvJgZ15bCb8tcRupRL2sk0dS
oot9kAIo4VmilXGTCJVQZXFJ3OkzOZUkPGk5/DgSS6bzuxMJ5l/Wg4VEe95ImEBicHoGOR8x7qTLE49wfJ/0RUco33g2gSO2TG7TrxFE
NL2SzwhIqUekY4QMOsPCL2L8uULbFuFhpVjrinC4Weo0RZhy5kR6Imp4byAxAUAJL5aUgJ4LCFFIgEwT8ywjYI2oahkRcHnMiU4IaI+m
XAgEhDm+0PQBkq2+xPIAGbMWlnWASyyk5ziARsp5gxsgScY8Sg0QzoqzaQYA4I9OFwOYsZb2fAGq504ttwBYMMv0VwDOcwIsKkCTMRIw
FKDuY7GlCUC9BvyZBIBK6rYwAjTpWUsKAVDKQSd+AJSTMZk7AAvZvhEcQNujniwNAIKzwygGAJrG5d0COFNl2VMBQMMQcpwA2N2xhEcA
7vWgbCAA2jqpjQ4AFO+YcwYAsWa50AKApvYXNAF4BrgLgAAA7KIWMwBW7hYcEwAML5ZaBgC9+5+VAQAAAAAAAAAAAggYQKCAgQMIEihY
wKCBA604MyIiIiIBASAA0OmOWAKOA6F4AhAACgBQu3VztqRIDEDmU5ZlUqeY1uvesYAnQAJBksrlU5mrGNzTvEGFsqo0F7IAnWqNUniD
buCKU/wR5tnc5FEYE28JN0dJ5fQo7KD388/JFr6rviLLYt6LLCcIZUHEDtIeeZ5Zv923zUB8FheZQhOgpyn8EXqHgX0CggJGGSVJCgre
hTJ7OyteZW2WTxsupo5hvGEseKloQoO9bV3vXyVjNhitjJ6lDpxmwisMRZDo0jonejmRXkS+bcmGQaIo3X0Ugu/5S12fX1yM9WtGvCEG
IS1G6UYc1rd9agBst9wZjvkXvr46GhD6PwijAXwBv3aGJMpGu9NT0bnXa8kxnGfLuqgTaV/ZQNlmI1krkcAlZqbDlXuKVoQ55PhPlCn1
CX3Q/CX4H0CIrDVnIfSwcnCvze4iD5NpvYMMA+c0OeA2Ij+KvT7SpeME4JkTlG1wW8POHVYaM2M28CJISgAiENoQBkL0sBB2byq0DF1S
QRaOYnSpfGDzIqVYqj4YANnm45f8w9vSAQAAAQEGAAEBIACQVXRbArcCoXgKKQABABBCCCGEEEIIIYQQQgghhBBCCCGEEEIIIYQQQggh
hBBCCCGEEEIIEQAHxQGzENPYYDkJBc9IhR1of6lO1JqRspyQLPCWdA1Zv6SI01QgD7Enskf6LYhWMaBUaaCuB9OW+KhGMN4H6rC1dnRG
nQOVTSZrTcz20BX4or5R4GC5tHo2lAqyZRxewWX1dbk1dJWKQgPelkoKSQCoQSIEUAdvSThBdgzlGAMOZA2drpH1PXnBj22v53OpYkvj
LtPwooxhje0jgulAi04WWkSNtwHkKHwVmrBEWuqUQsU41EHok8psOpOis1f9QQMk6espDt48IRNoEwJvesrCJqtJuCwQAQACPw8gISCI
GJBjiIM4qGCXG5ANEYYsg2oIcJQeWCOzUIq2AAAAAAAAAEAAAAAAAAAAIAEgADd0dSoCaqF4AhIgMgMDmQCAgAIA////////fwErAMFv
8objBgACACRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJ
kiRJkgEgAA==');
DELETE FROM zbxhist_packed.double_values_p20010909;
DELETE FROM zbxhist_packed.unsigned_values_p20010909;
DELETE FROM zbxhist_packed.log_values_p20010909;
DELETE FROM zbxhist_packed.shared_values_p20010909;
DELETE FROM zbxhist_packed.rest_values_p20010909;
SELECT format('INSERT INTO zbxhist_packed.%1$s_values_p20010909'
              ' SELECT first_itemid, first_clock, last_itemid, last_clock, nrows, decode(payload, %2$L)'
              ' FROM frozen WHERE name = %3$L', name, 'base64', name || '_values') FROM name \gexec
SELECT name, count(*), md5(string_agg(payload, '' ORDER BY first_itemid)) FROM frozen GROUP BY name ORDER BY name;

-- ---- they are read ----

SELECT * FROM formats();
SELECT * FROM differences();
SELECT name, v.* FROM name, zbxhist.verify(name || '_values') v;

-- an item, a time, one column; a group stored out of line
SELECT * FROM double_values WHERE itemid = 5 AND clock BETWEEN 1000000400 AND 1000000600 ORDER BY clock;
SELECT * FROM unsigned_values WHERE itemid = 1 ORDER BY clock DESC LIMIT 2;
SELECT clock, severity, source, value FROM log_values WHERE itemid = 2 ORDER BY clock LIMIT 2;
SELECT ns, length(value), md5(value) FROM log_values WHERE itemid = 5 ORDER BY ns LIMIT 2;

-- statistics, which are taken from the directory
SELECT itemid, w AS wanted, s AS packed
  FROM (SELECT itemid, count(value) AS count, min(value)::numeric AS min, max(value)::numeric AS max, sum(value) AS sum
          FROM wanted_unsigned WHERE itemid <> 5 GROUP BY itemid) w
 CROSS JOIN LATERAL (SELECT count, min, max, sum
                       FROM zbxhist.statistics('unsigned_values', itemid, 999999999, 1000100000)) s
 WHERE (w.count, w.min, w.max, w.sum) IS DISTINCT FROM (s.count, s.min, s.max, s.sum);
SELECT itemid, count(*) AS agree
  FROM (SELECT itemid, count(value) AS count, min(value) AS min, max(value) AS max
          FROM wanted_double WHERE itemid <> 3 GROUP BY itemid) w
 CROSS JOIN LATERAL (SELECT count, min, max
                       FROM zbxhist.statistics('double_values', itemid, 999999999, 1000100000)) s
 WHERE (w.count, w.min, w.max) IS NOT DISTINCT FROM (s.count, s.min::float8, s.max::float8)
 GROUP BY itemid ORDER BY itemid;

-- sums with their rests, too
CREATE FUNCTION segments_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'Segments' THEN RETURN NEXT trim(line); END IF;
    END LOOP;
END
$$;
SELECT segments_of('SELECT itemid, sum(value) FROM rest_values GROUP BY itemid');
SELECT itemid, sum(value), avg(value) FROM rest_values GROUP BY itemid ORDER BY itemid;

-- ---- a change leaves the other segments as they are ----

UPDATE double_values SET value = 22.25 WHERE itemid = 1 AND clock = 1000000060;
DELETE FROM log_values WHERE itemid = 2 AND clock = 1000000010;
SELECT * FROM differences();
UPDATE double_values SET value = 21.5 WHERE itemid = 1 AND clock = 1000000060;
INSERT INTO log_values SELECT * FROM wanted_log WHERE itemid = 2 AND clock = 1000000010;
CALL zbxhist.run_maintenance('log_values');
SELECT * FROM differences();

-- ---- what is written anew is in the format of today ----

SELECT format('CALL zbxhist.repack(%L, %L)', name || '_values', '2001-09-09') FROM name \gexec
SELECT * FROM formats();
SELECT * FROM differences();

-- ---- a format that this version does not know ----

\set VERBOSITY default
\set SHOW_CONTEXT never
UPDATE zbxhist_packed.double_values_p20010909 SET payload = set_byte(payload, 2, 2);
SELECT * FROM double_values WHERE itemid = 1;
SELECT count(*) FROM double_values;
SELECT * FROM zbxhist.verify('double_values');
-- it is not taken for damage
SELECT * FROM zbxhist_internal.salvage_rows('zbxhist_packed.double_values_p20010909', 'double_values');
-- an INSERT of its time succeeds, and what it stores is read
INSERT INTO double_values VALUES (1, 1000000060, 3.5, 1);
SELECT * FROM ONLY double_values;
UPDATE zbxhist_packed.double_values_p20010909 SET payload = set_byte(payload, 2, 1);
SELECT * FROM differences();

DROP SCHEMA packed_format CASCADE;
