-- Packed bytes are read for ever: those below are of the formats 2 and 3, as version 1.0
-- has written them from the rows below.  They hold each form that a column, a stream
-- of integers, a string, statistics and the rest of a sum have (docs/on-disk-format.md).  Never change
-- them; another format gets bytes of its own, besides these.
\set VERBOSITY terse
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
SET timezone = 'UTC';
SET extra_float_digits = 1;
SET bytea_output = hex;

CREATE SCHEMA packed_format;
SET search_path = packed_format, public;

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
\set ECHO none
INSERT INTO frozen VALUES
('double_values', -9223372036854775808, 1000000000, 9223372036854775807, 1000000168, 780, '
emgCAH9YEiUDDr4C////////////AQFAAAAAAAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA8v///////3+AlOvcCwYAz/M8z/M8z/MAAKgB
DADA0izN0izN0izN0izN0izN0gAAACgFgFJKKaWUUgoAEQpBAPDQS0jmhNAcFYEzkT1BBAEDAk4AABOuAwAAACOgH2AIAAACqk
xY6Hq2+z8ST43r+34fQFFcw413bHRAM/K8C/gOnCkBAwDAqf66Bf/Ipo2VAQADmBimngeT2wEAAwCA5QiPtH8ACicV2ySaIbhB
AAKcdQCIPOQ3/px1AIg85Dd+AAAAAAAAAAADAk4AAAMCTgAA+tfkfhIUmQEHAAAFAkBARIgAgnR9I2kDAgAVAAICBwaCoUjXNg
LIg4DZhQABFQQkGAgFl0iQ2VDUkmmSnCUZO5A83CfiVgOCoUjX1o0klQlfGDUTvqoCBqF4AgEhrgMAASAAgHP4cwIzoXgCAgAG
oB8wdHUOWVTtwU7OwS5uQioIJTUVFhXVEioj62gDWKik9lSkdW6qA1Cb6Tak+X0BAB4AB7PnkgyXoAfOc/DB+5HlTymHZaUm63
NWjYInZDjh2l1P3yijxqSrE+fQuh7o1Pa40NTRu0j8GB/gSmCOZiUE7gRNZmQj12yvJAjqwaFK8VD/R7thZ1Ej7sCxANGXjC5m
XPSPu2v3fnKioXmG7TeCP5xghn6e0ts8EZKOR6kxeEG77GV22xIPACNPQwgm++sxt0fVWJ6sLnXP71Z2z7cKyiMKDLmYBelyAF
AEsrrBAmd7AHEJirWXYPYkuvr8ZfsYhJVaB9TEyYHDSA1DpIEZx6XUPO5WddKawhOW/y+1bM/Uu/BJVQJToXgCIAMGFgD9////
////H/7///////8Pg4CAgICAgDADQDgIAAAAAABgAL3KoUW2M8H900q8dJOYnQIAAwCIBIwSVoVh0GACpw0rIgwImYgpOlQoBQ
EAHgCkwTiQxMRwJo1zOK3NynIvXyXMZaJTpDIVhW6VTmQdpvNrTDADqkKAVU+T32AanDRNT8jotfVTa8P4kjH1d/fjNJ9VGw4Z
KqKN67hWC1wMwa1vtlyUPz5faVvg9xTFDKAMfBq0NVSZ3pa/V2/FJtbXJjZIwlnGy+ZxcorR/GySezNJ3/ATuqiX4Wl4UrdM8n
h5+VgxaiBboZoATRlSYQ/bf3WhsbdjKrVSjYJwlpvnsN8/bL46T4phAyX5WeR4Tz1BJn5engbZIWKvHHnbNchOY9A6BiCceiRW
bMyUabniE1FD84JqAusCoXgCIJ4qAqjlhIu6vbb3/wGszb36ouGkBNOI3aH6Xg4JBznoUyO9L1mIKvdTdhEidVf5gIMrC7kfoo
KuNVZkbPyodPNBWCBKVhlLBVxsTLhFLjTnrVtzhmDLSSBejb+r6UPKKyxVWCZzYfGQ35HleyPMGhfOT7U178KGfBJZbRkRHUD2
XxZ3ulVrNzj/wGONZUjWhTSI0LhXzvrTwcArbXg+XX0UmmPZP7GnAQhlAgAAAAAAhnrRVyPI/UYcEGHAXTUlBrngU54fIIEmrp
iIgFeCxGKniJ1/DGGum1c3HHzDbvEIj+AeEUS4ozFgEYHwAa5JPKhEezZJHBB+FcWYcFo3lZXLPDNYeDlBc22hzJfU5QUPWuFN
mKC/IO5j9lv6DZqJsOWcj+aLQ8TUmsTnHZFtmKmZ1r5ZOaAjHCfwUBLuHN+7KJl1ci9OmN0xutoCkgdAIAxEYRxIoixMAzItQG
igAMEBAwUIEBggJAABAB4AmEQBsCo/5+2fDnDye9ia/b1sUSFYwk3dKBUiJKmTiwXIA0NGu2VpRQO4wsyancMaw3XeGyXgByBK
omYinVVesS2FbHkF0D6uPnlyd9HLtk8kGLTaUUFAPVgk8mjYRJG85+LvNwj5E4+KK9IJA6xfWk4APwUBz6Ippy6LiJilVVE0Bs
/ZGtVlPpMzO1Nnnd3T/tR4c/PC5FTFR1k6or5WuyDjSQ0f1QLw6tmHmHtv99mql+6tjGiNgDw1lEZmj2SCmMC/H6l2FnGTFDrD
jNfIEIaxVG1XTNDyjCbt9WAy2blelsV5/wJdoXgCEwAK8rwLR5flMrSbJFwx5Epy1RGlj1Zcnq93A7DBPhWnVROXovRLU8U4YS
JqMg6OUHFohC7oQmzXVsy7D921TKRPFe/eyDQ+JVV0xeN8Z7PNAAEBv9/v9/v9fg8BAB4AikIwtpedXOFbdqZSievOBp/hEd7d
ReT1dEXZ9KIWcDH+kd1tg8qZkjtxd9TOe2ssgSbe/lcvwwNSr3BVYV2YB5GVhqaxbdvJKN84Lskt81h6i0FSJALdMh5Bcv03WY
ALMAqkECzsfvigkGzRS27cc9BmhjKqGHErfqyUyY0XmPLdlHPBGKl31RQG250qphf7yKsg8/ONcrGO435zMv21lkCMYyPbdRSH
j7m1nFj2UR9AbfFGEKY0N37MmEDJ4x0BXcaIs5+Ce094geb/ORcNlqOLMEC7C/TV8We28wkIgSR5FYO84wIsoXgCABADAAMb8E
M9q4v6CCm5c5dMJ1ReUG/3oHl5xA+QBANM+XU1VkdgHG5OAQEAHgCNw/j2BzgSIxYrZl5pURwTX/AoQscLZuEonkHnkkzPDFrT
VyA/wozEFlMmUU4euqSbbO9DHmsfCFVEC3xjqrSfyKP6ymweaHMLoUwYBBbqlSsr2MQUgLAFGJ9pnBDkjrVsMXHvizO4kBjE+M
9JBaIk3EWGnFTa4jsJ3guQhN1BYWxFvcoVjrM5FwIl8gA3wySRQUTzFBWxGeELMwBZ473eEDsvRRpCS+nnK+ayV5FH6E0qoNOP
xwYSWQyCYnXwUjR9j49Mh3OU8w9r2r7S/IUN4Dfdda8sJubv2OWHfbtcqB8//pvpAlWheAIAQArcr+Y++g2PVpegN/yo4u2UNE
ZrNc6eSabnoasNnQNFRlTEjU37qgVACFJ2MGIRFbdHrFtYyIiRvpiU8BCPqsqBV2ZxYajNqkn+IswzoypIEKQBAwQAHgAAAABA
KGyu9J+suR+E1xcAAgDk5N6cDNW2b0JjtLUQlqBI0/zNAjmheAIAggcEAIUCYrFwRCKUy0XT6YBGI1MqxXq9ZLUabrfzBYPE41
HZbEKnU2s2y/1+xeUyer12x+P0OwEAHgC/AmRWPI71IwZeliDh7DBrDtiq/c+kSsjNDtkrbstr9efj+Jeqy2Ez4Q1KU+1sM/0l
q2WUDtjYeskSs1bguREjptmSOTxsB+LE+4TCEYBECBfXKk0bGC4YOtgT/7bCt9/LFe0ckOmQpuT9PS5HYZlr+XlVDl3AUxQUYb
8VJHY65qqPGYh6qMEmt6YrceBWW5wxkuL+a8WZJY4eCJehDcSXRWkSnKBZi1b1DZFLFsYb9cQWzlMTNgNVr4ezfew5mKoMNbg3
4d0rA8t61l6S11CIdCTZfo3bUlyGWBLtX5dStmGu102iAgSheAoCIAIBAB4A2qT+OH7wcng4V3jYxJpf+AIFcfWX4KQHj+bYLT
aXjE21LKY7gtYGTH68DWhSuORqREtz2yriBfBExogWwrVBayfjaC0xIw53/XG+7lUxSrslgDCPpausPyCEX6BhzweE2iXJX5fZ
1Uwh5oUxx9sJH1aYeEVGOddF9YNuFqssXAT7r4wUt+qt5rHkIpuCEexg9QJhxcQzyxTNNYa07hrTLFFE+t6/fcJ9+KhtDwNjC9
c6400QaZ65FVhGIWx8TAg3ZBAINxDj+Vf+j9EY06fgPpeW/ZydGx3dXcXUmRdEEAdLH0qXIQI3oXgKCwABAA5jJREYcoEIAggH
Gd8SWy4P4pQEZDzTqojEjFKap9CCupN5fCearnMZeljKIQ6mM/wAAQAeABDd31qtL/gCgd4gwD5uSuldRHL7f7pwJjSSUeCeC0
qYghHHjJxMl45UyF7mN1x2ECqN9azdci5t2VXUCAnuwA8lc4w5dJa1/FJez5SVL8k9Snotc0s/bIs35T2B/ZYeoe6K1d0Ti31Z
L3HFb+6I0EPlsWDktLiEDPN4STBzowr2fa4tnuPvLsS1dkk67swx+YRlWbak4MA0x4trQh1rsL/XeYYC36dBIPeUvp8U8Bc0Iy
t/39ztqHOoTDV5bWuZHsHMPxz46g2Fj/QyZ8cvJsDOSVXC7GYyaPJVP3KuKEevjNl/YNcCGqF4AiADAiGN0/j/3eGbkAcBAAEA
qqqqqqqqqgoBAB4AMvEAHhejo81//R1Jb+Ivy/GvX2CpB0uWZ+Pp0NTfKLx4oP+QR71XwuGZQ5y50VdIX6UC79arn0tPabtRjj
+bF8z5E/BQM1G7OiSPv6xRr60R3gW4vW7Yt7xsgoz1iAE9QTgQZIDmFU6jGklSE0Vbu1aLWxQfWuLi5Co9c20t6AY/vDrEH8yk
ntbRNvOB4Vv6CrTUEEdHqNIHJJ0N9RT3TyKA+3QcY/KqNreKibKRfobIGpu2v1nFxHPbyMAk4pjkA+hoXZMw6+fHamMnSgNIm+
FfclbUq+dMeGWKh7MgK7US+tfkfhIUmQEHAAAFAkBARIgAgnR9I2kDAgAVAAICBwaCoUjXNgLIg4DZhQABFQQkGAgFl0iQ2VDU
kmmSnCUZO5A83CfiVgOCoUjX1o0klQlfGPrX5H4SFJkBBwAABQJAQESIAIJ0fSNpAwIAFQACAgcGgqFI1zYCyIOA2YUAARUEJB
gIBZdIkNlQ1JJpkpwlGTuQPNwn4lYDgqFI19aNJJUJXxg='),
('unsigned_values', 1, 1000000032, 7, 1000001501, 350, '
emgCAPWODEMDB1UCAQCglOvcCwC9CwAyAN4BCAABGUSJAHcBzf//////////ATEAAZW67zqAoAwAEQH+//////////8BhwEJBR
Dsn6sDxCW0kgEACQH4zVPkj5kXrLNU0ChuMRQEQAKM6+8BAQGaYIGIYWiUJZiigAgTIWIBAQAeAPYUX8ULMksZp7190ij+T/qQ
1tdZquOSK4mm7W/3xCVYPqMbP4ddl0J3Q4jsUCUOjLjNjwF+pcdVgCm/rmF1DhCN1RHI9E6KC+zcqNIxz7anNI3eWA0TjNUeqw
bnZ2drvu+4ATBm516w2IlXJNBUp4uldjTDHMyeS6TBOBAmUQCsKARjNw7j2wwa1d+vAJmlTeqPQ3R/azLxAF6bFw753102mRN1
fi5OR1ZP6bJ3oW2PIg43p9zRe7nrpaMJvu4fyhQFQAKM6+8BAQGaYIGIYWiUJZiigAgTooBAAAEAHgAvyCxlnPb2SaP4P+lDWl
9nqY5LriSatr/dE5dg+Yxu/Bx2XQrdDSGyQ5U4MOI2Pwb4lR5XAab8uobVOUA0Vkcg0zspLrBzo0rHPNue0jR6YzVMMFZ7rBqc
n52t+b7jBsCYnXvBYidekUBTnS6W2tEMczB7LpEG40CYRAGwohCM3TiMbzNoVH+/AmSWNqk/DtH9rcnEA3htXjjkf3fZZE7U+b
k4HVk9pcvehbY9ijjcnHJH7+Wul44mC3oUDHxGh3wUHUACjOvvAQEBmmCBiGFolCWYooAIEwAEA3mkdSCApYUlpwcJSVIIIgRQ
dTQwdyA3ilMBAB4AcdrbJ43i/6QPaX2dpTouuZJo2v52T1yC5TO68XPYdSl0N4TIDlXiwIjb/BjgV3pcBZjy6xpW5wDRWB2BTO
+kuMDOjSod82x7StPojdUwwVjtsWpwfna25vuOGwBjdu4Fi514RQJNdbpYakczzMHsuUQajANhEgXAikIwduMwvs2gUf39CpBZ
2qT+OET3tyYTD+C1eeGQ/91lkzlR5+fidGT1lC57F9r2KOJwc8odvZe7XjqaLOhR8IWcJAEM+IPkFEhAAozr7wEBAZpggYhhaJ
QlmKKACBsKAAEAJEmSJEmSAAENiEvXLzripN6mW2UH4Grl82p5xPr0IjzGSbUYAAh6Xyp1Kki3tGLsBkzPJkNTeOjDaOaGFs66
OyeYDAEAHgA0iv+TPqT1dZbquORKomn72z1xCZbP6MbPYdel0N0QIjtUiQMjbvNjgF/pcRVgyq9rWJ0DRGN1BDK9k+ICOzeqdM
yz7SlNozdWwwRjtceqwfnZ2ZrvO24AjNm5Fyx24hUJNNXpYqkdzTAHs+cSaTAOhEkUACsKwdiNw/g2g0b19ytAZmmT+uMQ3d+a
TDyA1+aFQ/53l03mRJ2fi9OR1VO67F1o26OIw80pd/Re7nrpaLKgR8EXcpKEFF1cCZdQRosUjAFAAozr7wEBAZpggYhhaJQlmK
KACAQCCAICDANWVVhVYVWFVRVWVVgFdyi1L/0AAHUDAGJJFyFwi6YD/H+uKsJUVVVV1aBPJtInE+mTCSXbwNZakZEta1IpeqIl
OgKiH9qhG5qhF1ohoRH6oA26oAl6QKADGqA7zelNazB9aUtXmtJPTy6WdKQh/WhHN5rRTMXHYgUAATMCBgcMDhjMQygyAQAeAP
qQ1tdZquOSK4mm7W/3xCVYPqMbP4ddl0J3Q4jsUCUOjLjNjwF+pcdVgCm/rmF1DhCN1RHI9E6KC+zcqNIxz7anNI3eWA0TjNUe
qwbnZ2drvu+4ATBm516w2IlXJNBUp4uldjTDHMyeS6TBOBAmUQCsKARjNw7j2wwa1d+vAJmlTeqPQ3R/azLxAF6bFw753102mR
N1fi5OR1ZP6bJ3oW2PIg43p9zRe7nrpaPJgh4FX8hJElJ0caWz0SALTeykzxQEQAKM6+8BAQGaYIGIYWiUJZiigAgLAiACAQAe
AGepjkuuJJq2v90Tl2D5jG78HHZdCt0NIbJDlTgw4jY/BviVHlcBpvy6htU5QDRWRyDTOykusHOjSsc8257SNHpjNUwwVnusGp
yfna35vuMGwJide8FiJ16RQFOdLpba0QxzMHsukQbjQJhEAbCiEIzdOIxvM2hUf78CZJY2qT8O0f2tycQDeG1eOOR/d9lkTtT5
uTgdWT2ly96Ftj2KONycckfv5a6XjiYLehR8ISdJSNHFlc5Gg+wMHl0AdWw84BR7QAKM6+8BAQGaYIGIYWiUJZiigAgTgRP8n1
sAANizGyHVC4mHaMMXoVEYjRA/7Blb6HTSTrtuc+3RKSmON3DJFsN+rLiyFurwjCWRUsdWxOQd8wLlvk4bBmy7wMAnWTPG92aP
9+ul34CwBSMtgovhFZyJeuB1Ixn/OeRe7RcStZtTTaB452iecm5jhqSWywEBAB4AuZJo2v52T1yC5TO68XPYdSl0N4TIDlXiwI
jb/BjgV3pcBZjy6xpW5wDRWB2BTO+kuMDOjSod82x7StPojdUwwVjtsWpwfna25vuOGwBjdu4Fi514RQJNdbpYakczzMHsuUQa
jANhEgXAikIwduMwvs2gUf39CpBZ2qT+OET3tyYTD+C1eeGQ/91lkzlR5+fidGT1lC57F9r2KOJwc8odvZe7XjqaLOhR8IWcJC
FFF1c6Gw2yM3h0AQf+OAc='),
('log_values', 1, 1000000010, 4, 1000000400, 160, '
emgCAGNOxaAIBBoCAQCKlOvcCwCGAwAoAIUGCQCAcqkCAAAAAOzOPSACGCgYCYQFDqEUAQAEAhf3HxAw/z8f8QEHd/EDEQfwHz
cwDAgAAQAREA0AJgEDAAIAJJkoCRimEQYiFBMabW9uaXRvcmluZ25ldAQBAwACAFQghRYRhoEpSiGhBHVwZG93bgEAAQAzVH2C
rgQAICDEykI4oLkjgg3MUJpvdYSbyB5yjZ1ML2NvBn+JzBSGLOzLyH5LXOL+KDCP2fKnuvOof/Z5ovPnHZGBpnt1QhIs5No7f7
vOI0XXdysGdKMY1RZ5CRxaiA+vb7XmCH6xstyPFORfzuoWelo23t1L6iVDyfD4lfuYq5FZ9R/QKX4jbUXEjM4uLX+96hr8UcfG
rSbT2URoAqRCWXVdOObRY+ggZRK9Q9nKpuAsmQsKgmUtysIK1Ndv6XdZqiegyZv/ZxDFHOQQwSShDg215Ll/wq85qrMjiSK8wl
pvYG61Jf/cVpvzHH/wYpNqltPIvR+PL/PHTZewHq4lfkSqnVut6XuvcO/fLsmwhgeXlcRCY2tV+29JIvRVaBYajN9K0imfbSMf
Dj2tmZCDRfdDn4/6vf/EmPE3CCEBlMR1aHvmEGo7hDxZ3ASOiFAkO+gHmlx00Hm212fS+O1dIaRLDliGaAy5N2k8/HSASeRdh7
jH2LmqzR/x3ndABfjaE/QpQ4gcZV+OKWoGejdWM3De0F9aO/PsTnMs7TRj0G3gypoVthU2dwLnTxDgMnrYaNE48rT91vAz51/w
ndYBu+afNRA5FSGJbqmrG6oO+54ZCURAwxfiGzQXPLOPB/id2+vCrJEoMD/BalMg+kdVMNlYPDT9NW71Y2TT8PSVtqudz407XG
4LARgr4MXNzVByuxhkze5NPW7jaYU992b6ROHtD/YT9WO9HDg80wt8KYq1ApOt/st7GBnKFOfqYyikLg6xPVheTCKlv8ngeWT4
3d65X8WEzZZdpXcbzpPiAMNvfNnf0OXeqtZ9irT0wQvyKqNT4nh5EzzWRZIOOV/trXu77Q7KP+LgASKAqp2X/p4YgKrqVQABIQ
ICkOhk5AIYKNcCCYQFDqEUAQAEAhf3HxAw/z8f8QEHd/EDEQfwHzcwDAgAAQAREA0AJgEDAAIAJJkoCRimEQYiFBMabW9uaXRv
cmluZ25ldAQCAAJgmaaZolKaFqmllsYCKLUv/QAI7QkAZtIrF5ApxQbln+xssLl9d1DLld07pUyx/4MYLwAhACEARZIZejvjsr
k1F9mX0RSJw5FQ3I0aYvQsEI5DQWE4DhIFAoPhKBQAAhRpwIABAhE1VrJ14yq1HH6G/BdL3gw5R2ci7BT97Jx2VJPQ6sRF3iY+
vTT061G5rK98WnUJ2cbmcCrlK1HZmuhfhNL7SejH3wJmbC9jZBHd9KqPTDQLWVaWlw3ZhjI+2+SrljL3ceYtSnWoUVDXef/PgD
Oa5AERzDMhkvhXewBmqqfHzGx8tW4R9jBB2aWI1qwDRtk9QbpV4s0kGdfOLm4kgkZrHzRDvKzetpaplz0jgxnIcgaZ19zhQR/P
MhpLQ/j2sXWmUfoFSpqEtkgemiYIM4LvkEPkcXVmBptJglTtyb0kFhrPv7y3TmYhk9UY5oIasQoBAAEAM1R9gq4EACAgxMpCOK
C5I4INzFCab3WEm8geco2dTC9jbwZ/icwUhizsy8h+S1zi/igwj9nyp7rzqH/2eaLz5x2RgaZ7dUISLOTaO3+7ziNF13crBnSj
GNUWeQkcWogPr2+15gh+sbLcjxTkX87qFnpaNt7dS+olQ8nw+JX7mKuRWfUf0Cl+I21FxIzOLi1/veoa/FHHxq0m09lEaAKkQl
l1XTjm0WPoIGUSvUPZyqbgLJkLCoJlLcrCCtTXb+l3WaonoMmb/2cQxRzkEMEkoQ4NteS5f8KvOaqzI4kivMJab2ButSX/3Fab
8xx/8GKTapbTyL0fjy/zx02XsB6uJX5Eqp1brel7r3Dv3y7JsIYHl5XEQmNrVftvSSL0VWgWGozfStIpn20jHw49rZmQg0X3Q5
+P+r3/xJjxNwghAZTEdWh75hBqO4Q8WdwEjohQJDvoB5pcdNB5ttdn0vjtXSGkSw5YhmgMuTdpPPx0gEnkXYe4x9i5qs0f8d53
QAX42hP0KUOIHGVfjilqBno3VjNw3tBfWjvz7E5zLO00Y9Bt4MqaFbYVNncC508Q4DJ62GjROPK0/dbwM+df8J3WAbvmnzUQOR
UhiW6pqxuqDvueGQlEQMMX4hs0Fzyzjwf4ndvrwqyRKDA/wWpTIPpHVTDZWDw0/TVu9WNk0/D0lbarnc+NO1xuCwEYK+DFzc1Q
crsYZM3uTT1u42mFPfdm+kTh7Q/2E/VjvRw4PNMLfCmKtQKTrf7LexgZyhTn6mMopC4OsT1YXkwipb/J4Hlk+N3euV/FhM2WXa
V3G86T4gDDb3zZ39Dl3qrWfYq09MEL8iqjU+J4eRM81kWSDjlf7a17u+0Oyj/i4AEigKqdl/6eGICq6lUAASECAuXdjAACGCh0
CYQFDqEUAQAEAhf3HxAw/z8f8QEHd/EDEQfwHzcwDAgAAQAREA0AJgEDAAIAJJkoCRimEQYiFBMabW9uaXRvcmluZ25ldAQCIA
hvKLUv/QAANQMAwkkXDsDlAYSk1bstVwhpXHVcNJVplWaEOwjxZyH3legIwlNSWL555FDLVMQ0ADGdCyq86ysTyxpHFwXrm61V
YDl22XEyEG86gvBgqkvJOQ3Y+3jFWRlzdE3g+FUtjp8HAQAMDlQUAQABADNUfYKuBAAgIMTKQjiguSOCDcxQmm91hJvIHnKNnU
wvY28Gf4nMFIYs7MvIfktc4v4oMI/Z8qe686h/9nmi8+cdkYGme3VCEizk2jt/u84jRdd3KwZ0oxjVFnkJHFqID69vteYIfrGy
3I8U5F/O6hZ6Wjbe3UvqJUPJ8PiV+5irkVn1H9ApfiNtRcSMzi4tf73qGvxRx8atJtPZRGgCpEJZdV045tFj6CBlEr1D2cqm4C
yZCwqCZS3KwgrU12/pd1mqJ6DJm/9nEMUc5BDBJKEODbXkuX/CrzmqsyOJIrzCWm9gbrUl/9xWm/Mcf/Bik2qW08i9H48v88dN
l7AeriV+RKqdW63pe69w798uybCGB5eVxEJja1X7b0ki9FVoFhqM30rSKZ9tIx8OPa2ZkINF90Ofj/q9/8SY8TcIIQGUxHVoe+
YQajuEPFncBI6IUCQ76AeaXHTQebbXZ9L47V0hpEsOWIZoDLk3aTz8dIBJ5F2HuMfYuarNH/Hed0AF+NoT9ClDiBxlX44pagZ6
N1YzcN7QX1o78+xOcyztNGPQbeDKmhW2FTZ3AudPEOAyetho0TjytP3W8DPnX/Cd1gG75p81EDkVIYluqasbqg77nhkJREDDF+
IbNBc8s48H+J3b68KskSgwP8FqUyD6R1Uw2Vg8NP01bvVjZNPw9JW2q53PjTtcbgsBGCvgxc3NUHK7GGTN7k09buNphT33ZvpE
4e0P9hP1Y70cODzTC3wpirUCk63+y3sYGcoU5+pjKKQuDrE9WF5MIqW/yeB5ZPjd3rlfxYTNll2ldxvOk+IAw2982d/Q5d6q1n
2KtPTBC/Iqo1PieHkTPNZFkg45X+2te7vtDso/4uABIoCqnZf+nhiAqupVAAEhAgILYBCeAhgobQmEBQ6hFAEABAIX9x8QMP8/
H/EBB3fxAxEH8B83MAwIAAEAERANACYBAwACACSZKAkYphEGIhQTGm1vbml0b3JpbmduZXQEAwMAAgBUIIUWEYaBKUohqgM2CA
1XKLUv/QAAdQIAokQQF4BVbQisuyBRdBJJgb4m8BGwBPAqmpAGAubXAr9vY+QgvNSNIB2yuznmTVxMygw4QpYMXs1lTD951jsp
xqgXfREDEAVDYVT9g+AJAQABADNUfYKuBAAgIMTKQjiguSOCDcxQmm91hJvIHnKNnUwvY28Gf4nMFIYs7MvIfktc4v4oMI/Z8q
e686h/9nmi8+cdkYGme3VCEizk2jt/u84jRdd3KwZ0oxjVFnkJHFqID69vteYIfrGy3I8U5F/O6hZ6Wjbe3UvqJUPJ8PiV+5ir
kVn1H9ApfiNtRcSMzi4tf73qGvxRx8atJtPZRGgCpEJZdV045tFj6CBlEr1D2cqm4CyZCwqCZS3KwgrU12/pd1mqJ6DJm/9nEM
Uc5BDBJKEODbXkuX/CrzmqsyOJIrzCWm9gbrUl/9xWm/Mcf/Bik2qW08i9H48v88dNl7AeriV+RKqdW63pe69w798uybCGB5eV
xEJja1X7b0ki9FVoFhqM30rSKZ9tIx8OPa2ZkINF90Ofj/q9/8SY8TcIIQGUxHVoe+YQajuEPFncBI6IUCQ76AeaXHTQebbXZ9
L47V0hpEsOWIZoDLk3aTz8dIBJ5F2HuMfYuarNH/Hed0AF+NoT9ClDiBxlX44pagZ6N1YzcN7QX1o78+xOcyztNGPQbeDKmhW2
FTZ3AudPEOAyetho0TjytP3W8DPnX/Cd1gG75p81EDkVIYluqasbqg77nhkJREDDF+IbNBc8s48H+J3b68KskSgwP8FqUyD6R1
Uw2Vg8NP01bvVjZNPw9JW2q53PjTtcbgsBGCvgxc3NUHK7GGTN7k09buNphT33ZvpE4e0P9hP1Y70cODzTC3wpirUCk63+y3sY
GcoU5+pjKKQuDrE9WF5MIqW/yeB5ZPjd3rlfxYTNll2ldxvOk+IAw2982d/Q5d6q1n2KtPTBC/Iqo1PieHkTPNZFkg45X+2te7
vtDso/4uABIoCqnZf+nhiAqupVAAEhAgI='),
('log_values', 5, 1000000007, 5, 1000000007, 8, '
emgCAFfpEBsIAQ8Kh5Tr3AsAAAAIANlFAABhRdy7AgMLrUQDhAEEIAABIAYEAQEgACAIZHVtcAQCIYAiAKVEKLUv/QAo5RABDk
CEhQgLwA+wVsVa2Mr/rgSBCIEIgQgM2PPLz8mHhzn/q/UYnEqB6XmsOYaOmLe+f802++jxtV6iPuT8nu57xz5AJeogSW8QE7qY
0vemRWxLIzCa9+MKvziJtKFk+OGA6ur89Qm/+HHjZ2mrEU3lHU9qLhdyuhbzOmupMR58LfHjWHE2W0AtwI7iFvesV8fA0ItvaL
DbUn+WlKSxCDMTzUUoY2jJwPhYlwUHGoMcmQRteY8d5awud/qLaNtK9aJUt0g7k6pZEyuzO3mpCmTbXMnVvKjoT9/nx5+Yn3rK
/mt2hMH+Om2pugmbE7IUH3w8uCyUUvz+mozDf4XMKD9rTI/jtme1XJUIXOFf5aznI4EqggswLOXzXrfMpJzxLO5Z393CqphLWO
fuEqAfwnMDEeP+UJU+ganuTdjA4g7zPPRF1KOCd7+uvp6xY3amLV0r3SqgizOxBkeQTRAEDj+gy33mGzQoGQVt0amOeAH2H2Vw
1Xm/vgGldXkOS+5RrCTKjMSsWxF1ONGSdkJ6sSlbhItZUqXKiQFQ/Wt37hRwIT3FF3qFDzPYow23ZqABWKVTrL25VmKc1/Cypf
ZD/LsZaXsf4hab4HGcBMEH1YvgXjAQOsjyX4iJASaeygOHEhiDb7rsR0wUTKCkf4w0RgKAVHs8OwVkhaTCjvzLTvs6ZCtc9xsc
kVclX9+9dP8yo8xysUSFV+HSI1y2308kdhFdDv9Jq/8EjPQfCFQC2RH7hEko/b+MZQ8rgO8nIE+P38/O55dqc72Y0arb1yJOet
/PATXc3RcXpqWROaPzFvF563s5o5xqaVJTq4F6gB27jS5FHpG/8FHviKmv5R1UqrT7u9hgk8KdVy0voj1F8cugi0yAVwX9YDsJ
U8Ym5r1SzgJvs4Pd0e1g2Jet6TdQM5YkAEqRX2K4Yp/+AJ2XY51xgcb6dEMyECrJZVA5Vgpml5B2iXnwv1EjMXH+1lz/CWrjTD
MixMYdgQdpX+n5Hg3ygCIiFkiDpTFV7u6ACwC/mbja126xVEGCOtYy6I/TptIuiacrmAbPpQVObE8cyeZrvRMKQDniU3p79Fib
Oca7s/GpVULd+y5r6nZy6ERwjeOOpMNvEjT73YQPdc9j9RMxdEzGQOHIGIiN0trywJbj+FsWhyNzmCwZlbtd/BwINcQXp4dYQg
Pq0mWiRL9741QD109VUs631ujOwZ/qbPycSLvqxZrkido4gGlJHFOuDLa1OJuZrLsUNiXKSpILgSmsBW8Zg3BRi3XIdn52WMlS
LHsP0yXAKEao17N2YvzSFiBG2Nag2EsemPF+iiZ6NQgjqtaoE1XzRoTvZJU9xQ+SSppkJD2XsF4OoD0iQiaAzUOE5JEqcWxIWu
pK+X/7Orp7gqOaLtvpaHLUD5f3h+Z7/x+20fXWJ7e0uN5NV/A17SO9veLFIUMCkaVTbLr0QBh2M+0yV56fm6JLe+ohPOAfyH/D
+Xb5P5b70BtFsm5jc20Z957ITUmvrVNK1ufQLeOadANyQJxEe4UxHt/4j0aUPmXevrn9tEndQ/6Iy56Q+KMCUJvj6Cp6E6KC8C
kyFcItWcV81144p5Ai8PUDclEUNMfNap6DJQ80bCArckd/NQC4DUnd//f+ic1LmhNeFjHOFk3w2eEl9ZyoYsEeYPNUHbkmIR4p
oiOaKfjZYkXAQV0ZdOPbOCwUCEq7tWWltJXQ+yPGV4G0aNG0N7GVwfA0y84wn8w4vQxw2KnnP/ApSRB8VCo3xYInqEwQnDs0OE
vDqBMsEd8YQcBTGbmHx7q06ilfV1MkfWpX25dumrnStUjHyVtmHm0w7H/NqYLCWDWP+Wfv8hJcdt30hpgFITIHcR5/i1rRsMlq
Re+58BBzsjYjfj+sP/TLVVCupzQ6NSMJzSaV+6kCSMVYI8fDcKMgF3dCdFeQz1POfCEwB3+opBs8eq+Uhs/htSCdESxvYIXdmN
uezpibd3kVgMdKrOHtE3LyfdVjxaLioJI/Y0YDl1VfXO+TFgnIGRBybOrZIjgLNHbcEhT/GhS53qg6faYYTIiDoUd52gPEmrhU
3JPO1sHvSpA62BC7NtffKe3MiMLKlscjcpJsm31T0+cilJhzEm6wVrhQuQ/tJxzicenA5MxtchFS0WXLcG2wHNvKqlcoXXVzt2
1KkNvtI2dx+ttgDj0lXOUqQ1r6g0hnou8ONiwLdyO5OfisS6OH9woB74jEzEZODFagBrG9bfx/UwtOxUI5zw23vIRx4Y8qv2gI
9Q3vVV8rStofXpmWPA/9dATNAkPxyVwAx96vOwZDVykUu84v5SogDd8V5Y05PZkUjg4jlSCK8ksA0oTn2Sb6v8bCHuQnbCVLcw
Y4nywFay2Pld16KtK0G4g+iPzcmQcKrky4GMdI67RtFCQM586HykPcnxpBBElDo7iC62+9BgLiU00TcQvifrwbAksm0Bh9gINo
pkbQFd9AUc5sCyStwfJMYYYVP/9BVtaTYxKlOVyLF98nn9oFGihoB+EQ94ZjOvp5c12gBYIszGXJFjOtwx2G4d6ikFZLcOAD/Q
K9PjZW5r1A86nMNcNQ7+S2dGaYUuzWtesRgtNtYV2NmWolNdrALrAW59ghJv4IxBRIeTC0iBLpRQAZyCOJKQ76a15BlNiTL7Cm
8W6FbXapjIovI7HYkam+vqs3ABhrpkb7KoTzO4cOwaX/XqE784fs5nyzoOwGZdthx1Zal3+7JuIdbGyREbxzcAtCxEgevQ18Eh
HxBgI3ii8cGrOzMQ3rTwJKikLor7XUtF+WhxXNe+o3KuXmtB7f3hfXLjLXVg8mKLkDmFTjgfCUTURGkiElurJVD6mbJLDgoXsz
hyNKunW4OHqoSaGKpNOSM9P+doYGL2to+5d/yHdKXMdoqqASMiJw554Q2eLzZIHYqfvaVxblAx4e+Rzl/d4zfsO4AU+D18Azll
wRj1Jo2jJUdSPofn0cLFf0OHGmclXZzFHpKCDDxpRs7sdeDl2p/IOYoW6kQqH7cjfsP70f4hS1Y1TFBUQ9gfhddo6QrFsrszCE
A0p7gFP2qrnKagU+emaXfbYZF8A21uUAvvrfAXGjbac42CD9a3eisDEY63k6pqPzssxl2IEyOgPTDj35yYEkq8BZE0w3SpNB0s
oEHIpugHUyzxGDs5+ERWN7ZKReQTOB1CkqJRPO16M5463S3LAES8rp0XOQO2sg0yl3Z7r7KZXAsCiZdJpKRVmLIPGyBmqNXQDt
jExKXZ630Mygn+eHVEKTgRwIcmbHdZYsg83xZZUMMcnxxkVlWDAphLdwXlKQ5MbSoB6HllDGLx3ycLkzPuosbyKGsrVSbaKvWe
MiWDh+oSLldKB+L0PqNjidd6SJV1UqX0VUW8OJDDGDZP4BWaOXHvXMqpd4ZzTXzwXRZuODe9TjqNk09n5tjP1Fw0o12v5LIe87
BfJvuGiSJJUO7lVre0vpiaCLPuh3MWlUU9/Jl6g12bJqWob3sVjyNLGPTx75DVkAqx1GGeoJ3tT10w+9ST0sB7UgL4bDWWNWC9
ptFF2Sis95+g0IVShTM0vKrJLolB5QFlVAp1bi4TvXHNWZL9Mye207CM3Bs4l4V1Y6UqVEO2g2uWRLilkCpWDTdWQTKyfK9fHp
pe8MxWxeW3Xa7rpboxzwSJVBZNmxgU/0eU4xkb/JcGMKr8dUx19/DSjI6aYUHY+AfQ38tYPHwDQaLIAs+arvClLqh/B4xTwJC3
Ja6q2mmnoX1oVBIeA7dY6ZRLwHvXWR7cyomopKCF6ZhY5EuuIgEEZINZMxXgEV1qp1TSstWPZ7asjFdZ6gBTns+XTy9rCBch40
T3pOrANLNiisRAfGKcV6UZjOUslbnV4jCSDGZZenWOS4qyUWmwR5xsiw1NON/TeHOh65MUoqJjrNbSIw4N2b35N3R05i2U3HlS
w35x2f03dTE//VCuKBMykV6TVob2Rl5VHIrlhSbu5hxTJjKrUas18mkhEpeDB+6XmSffrEaRfwP8Z/3LllC8uArS/jWap6ZbJc
RQ96iWNaZzCRgMZhOgwJHGJRxbUgbfsOlygBK5s510zwaox2M344mnfrmK8+gyR1WMotHM52zzfSYZ1p49EU3xwSVkNJ6TXDIv
UJM86iW/77m7OkbrjIcZ8X/meQwfU+vYZAYQj+8qGtROeDxt6ARrFLhjm8kf71xnQuisuqp5NmOjz4Qzq1QvseP8khRJhfy8b6
r5Hn8pZgYVr3gA1otSEuKNvxSDfVH2G1PXP3+Y2rxAdTcU80sRgRCZXXBY0dZxmsUFGgML9rv5+7Qvc9O/KKo52TXrRl8z6Hzo
uKJ+v4LyxE/BGSsU+7ab5NVD/oPHh7VN0iZZMQqyM73tLXTiUG8eaZLfqgq5GKb78FgcX/BsC5uXoUPYrrQ5xgUmJJ9dOHSXdU
ih4cHDTX89Zn3/6i4bVhgt98lIs1WPBSGqvYfJfXPa3q9ZPXjvHI6iTsb8emkkD9pngTiK29A/+pS0kpS8vOKf4jmc38Co6ast
QbdtIRSwi8xUBK+ig8MVegGoqNVrG0KHcLvkiIkTvpoErpV4hx2iol2kVU8eqxeVwKlTlgpHclHAbeN0Ts1x9DzKpFqMTBU9D7
ke59VEPiXj9uJoyUcp8S7LoU1aTlKlDBlz7j1lIRML8DznSNSiJu3DQBNTdrbiqQNI8a5wW+NigzjKcgVsTWdhCDSxNcZbHZ1M
jqQhZge2kx27i8x0B1Fz/Gaa1i2x11qgSlXJYNt8GEET2ZOX+n68LyZpiH1bHwAqFk+mGbTGgFSLyQOdVy7y3btU2NgdeyGEWG
It93oU8FNEAyri/rWhBnwJCmE6ddY67L8UfmWztwj/5mSZtIjqcWarm/eJgLpOeMdwdhXpfcG4waJseq4MYPwAVyGb8OJ3stEI
IDHngXRQm/D32vuJzLz07KPbUY3q6KWUtdMvwFnl4t8XXufb9YJCmDCdY/mWhhJt0P7MQDsohNd/UimSx+1SY+ufl9R7AWPP7v
I5B24Dm93eLkXbDk4z4dTiDw3e0uVTNQ2QX7luSLSycsqRMox1M+nyg+fgcB7aEDzhCkAyUBOvqKl/DVC9lIyoZLAwF+JPiuxp
zGZjl41MG/A54vxt62qKCIjNqTHJPoZnvngtfSiXQP5nviWAVwES4nSMRvxU+VkYIBdFygfiVWigBYME+JIzx8ls14VfsO1gy5
rfUJXvc6bvz8SSZuZpUtfRpTzmiZgqXHPdKsSCa6oJURQIIcBoFyLgPiICLV335dtOy97B8c7Kue68np7SK5NYOBMLJ6NFnKU3
B9A2HfDK95R0GL3PJ+W4WXHMM10itAW8LJlWU5m/F2zcd6L1LlcgxTV4c4d2LpKbH3CHzTCblgorE/hjgocSUno8EvhsiEKnNv
vMJcKS98zzVP7bmc5+WkHnRV7XeRUbIyAz+p5B/xoZ1fssEEYWETPq47TKf09Dj1O9qm8n9HDTzHopaaTd+k0Un+df3Tob0dVC
SAJHSjPfkiUq0wYfXStQwyoVOHsUDBFP8WDKr1VWztL75RuDcV7BvTSd68XXqJX77td8ukS7fxPlj3lcVxRJmhEEF2mu40Z4Qk
XPO9xHpZ8AFapvdeXNVEgwR68umdqS/2sYYWYgfrBUnxRe0TNTQqciKmZziq9Rfmhe9R8cCD+hbudAv2x6yKgVEHBPPC450vwB
kpnBqjde1YUHvMShK5JKeGe3AioGj24E30vg/7jSZfiVK7p38jz7pIbOZece1hOn9+IM+tnsnCeHOyj3icRyCHkYJ8rzEWWxkc
Zd0jCTikatK+7VrqoXKvSTTKE8oG2LwZtjVTn7KFZUKGSlaajJABS/ImLzo/RZ7+xyx49bvstSTY9IZjmLrJghpsnmktTQK1bC
tV13IpPLcOYuPC+eUrVfdthQ1nEr5YJwiOmYbX3xDFrRZ9YCJwOH+EqsErXPvv0hgSzIrUMQHsEgq0LSquACybX11CH67lkJ49
GPPMCTWKovKrGqkjmHrUHx02dadPFkhIsnBW6XT7eZrMfzS6CcayePenjXDniaL2GRu5GCzJM9n1NARZ/Lh/6EGYjlsV6x+O+L
/HpCaFOP6stn0XFQjUBWsHrTTLanxfa7wa7jrELAA4wWPcj2Yaer7t11xaeS5LiRFahYqi1enyu39B6v2PdU8ZTwjgWJoBnhNV
TpXm+fujytOxQuRw1gsLodIGitvGojGZnU3nfPXXMgkdBmaOaqL83q68CgnMVsuHZgZSTjwgFEQxsQU4fyLjRf4jDScBut0RvN
oTvZBrsEZm9hKSrfh6KuFitna2guu6mPO3MHX84aLKMg6+3ronpHMPCYlZwXokW6KyqUJ/0kn0TcfF6fR2Q24QoFNwPhg5a2/h
witueF1u76OGl7l3ly6+s2xtyTn4oFyMDuCDrIqDoPUv28hNYkN5cIfMlCfuWLETIyZhahtzwg+J5LwfnUzytWGOnOlyfVtjje
X/nS7r2d/+afhRVNYNr3L2CGK1axtMh6Vx93mkEYg1bRecKovA7QdYI2igGFjxOkJfj3tWVKIpQ5pPlh6MoIJnXUc5RuY8dyON
ehvN5WgRDi4aQni/NX8LeEnPC1DaRQjxF30x5AbbqqrwY7/cq+jjojA6+5c1qy82yYsA+fZ3qranbrXnU+kaZKFmISUqCXtasi
Q6C0K0QVCgNL3MIOtbxtk6f4qf0LXGXnWLXcWdOQvkYCwjTIgK7pULBxE158fTjPQwKnYxByO+0Am4Bg3JEasNpx5FaRGcyuuW
R5idVm5s7V5RrcXbhAygZuv18ZCw/dg7g9fS3nR/ODsddlEXGK+pO/gOLJxVDaXfHAGYA1rdVNrZtktCrPrM3A2lB747cHWwLx
algL3atmDYtRefj3IqrA0BGKoGOmEcdVv4sxbzGFIwU5RmMJ14MAVd+kp9XyqNNCXcEgxsXktyNlNgcfn2/tC+fD4dJZ30aY4T
Da8GOVkxbi+BU6dHhq/WyJCEjzdaCM/Qj0uFCEfh+rbFjpJoPy2ryq8pgWELM0EL4YH5149cGOrMQh7qXHiNzGd7k0xMWsVrH5
Twz/M4xyenMA244z5V0h959iKukvJUPN9VxMTggk1iMX5Jbmje07IskNc3wob3qP1OUN++tEPGh/mfVmxBLfon8M6XeH3m1mLc
yrobnW9LgLASmO5rpnhESrqRA5njGT7LzfLzYGVCTvTBUFI+Y91cgerpgVfrmk/9bmP0xm6lbPU74CxPACIQoMt6TZTM/uY8V9
YqX/aWjgcBS4I6CKqoEBoPsiOc5csYGOqiIrCKOWA6HV4gSr20aEef7DBd85ihiXe2zDBWnIoECPTTmULSM1fDNGde9HjCs73m
i+LH/JAKQFWjbTRuIwusPDyVp1ivOpMbepnq2310HlH4ldYnujMxBtowNJbxoDV3coxHaxYo7X6tgGiUrMcF4+zX0/IrvgnanY
lNTuhm9GDaSDFNIGw5sFdmT6WedI0rgV4hKujxUClascDjfhFwQ0EjomIW1YCYhgfODk77f2u2lk+jpNiW8DHNE4swo3l3k+yj
H/nEDS32a/Gj0VQmu4YW0qI0Wbib6+Qfdthqvu0/d5ye7FE/xBJr+8PA7mQ0EdNYpd9skjxDxqEO4epKM+cOx6L8vCmE0ZIKVo
u0hgk+c2HKV09ZHIcm3ft4SHRjYRh/ehwJ+3ctuIy77HeJieV+AHmXNPc3vubKEtsYl2UnGHKXMdRgSF0LL5S7tMcxakPQ4mXa
VJPNWbElMLodeU7QIwI+snPb++RHnFXqjB0BgZwBJRn08qD9otM3vVaRkzE+N4bmAgntTJHeQGeZkgMGF/VPboXFYC1rCNz4tg
mTeoDRZc4mRRoltD6EbboghWNCmp21JQZU2/hVLFDH43XH2DpiC+AaXwoLVmLGeQ/jnKTmfVAAmvK4b2tSUWYtz+BKitA5C+dO
+gu50VwzkghzEjDP6h9ouqxMoQevl4+xjSgGNyrpyVoDBHwHMceXxXUp81jKxlefQnpxM8mq6WETm/rRypE9I0gz1nkgLrdEOu
HJAfMIvYlYl5Nzx5H2vB6eWH3s/Az8NEG7Gpenur2DP+dP6/x0vwadZLEn4wkz34sBgReHN3TuOiWVrfq9rdT9a4e9Xn2pB0mW
LhfKhEedE+rJjcJh4QKNxtiNv2BcpBDke8Nd1c1Tct5oPIU7xc7T9C/HauFOgFegCCLwZqHPXH40zyli2mKaQYTltkshIkkg8A
9tU/SOz2fPK9YRb77bQ+sPTouGfeYHCXyxnD9w4V9Kl0oFCE/Hs1hi47FpQmLVZCHjR6vPxh7U1S82Q/8RNEVbUvUE7GprfI2y
CeitvtYMKxhrR2HoWK79U0V1YFhF+n1Oom8Ez6o6RnHIZSWtPvfJQmsZcliUh/cKIdhbRKlEXvL8dAk5/hUzft5n/gzHa5PvpA
lh68wbfHS21uwH2+Jh+2iUL+ze0iREJLl4mZylkZRpHuBEq9tA4aCFiW7/eG3/ZeKZtJE6h/C3PI6PuSeXDoNQRLWnyUIDdDi9
PKMw446u9/8shyiQmdJFwiCUpX77Q5er7IYIR+ntMCeeiopmxgdivLthjYSzDWA/F72QMB6t1rnovWkYNUofOZ9SzJODCdNq8W
CiJyyeRdDnD8ZW1VPUMU0mCGQd37By66wqR2qBfA75HBECMoRjLq7DR5jpGmfCHjfJCiSRZ6l3fYAjkmVpmzi9hVVBvDmEgl3H
SmNmNkCVxWSyAwHpdNJSnwfbaV41uFNwJ9mnMdT+rPICpmJRq/L+JzAlU6oEa4J0KOjjcmfSjRmfUYuToDkPF7g9VyCmoZD4TQ
4y/SBHJxoSfCFis0YAhbNA+ozJx6Ddu+hJa6fYDawaH42+DGDTyX0LELN/Vo9sKknuOQpwbOKpJUK3tpx3+pRNj4lZTDCtrtwg
ySC3iMhlOwgyUidIOQ3rOoXDgiwe+YLjsPcQTPqFovZ2ZmIXWWDlXmf7dmG2XkOMnPUGZaYuF8ANzkuxE5igekuM94XPMFR9PU
aLVtqiuRt5kieAmg1LRKtIirbbdIbwD4DPEZ0e5UeIK/H+sD3TttrkxxyL28zfxBl1oRAZFo4g/aAfEzrIk2eStQAG+XE+f43V
LC3jglnyGq9T83+O5TviSzO/XCiwDohIPiz3BkGuHe6RLk65qRotPEOIZ8JgwT31Luaw30hSKy8P15iYYfbRw/QnQqxtSPy5Le
rnhTFMRTlWHkymaCHDK/GyGHVRpdEoHsndTHBi/A8UTEjTLuL2VIAqkIhVGmWN6XHPY4h6ZHuw1SnVW13+4Cn8DxZd2Z++vv9p
u27QvQdYLWLSPgtZIZ/HvAcavnLa4EMct1MM9d/9qe9NVCzkONUSER/E8MOWg8O1GQmoZFp1yY+6gbgw5B4JhnnpL0W4rwsy+G
/NyGJsSuadOnqMoBHuENi9R4X7sttjAnXGYBO/dXL01krWsilaqLiibG9ft3llSVPJ1dKpX/JKzKB7myV4T5bOrg3P8YYxW/yn
bQ/ComxsJle11A2n4psxw/hBRLD/DINRrP8FqooDZ/ZSApN0ogDZ/dWudLUr0rS2N0x5GyzEvG0rBIY1Ncy+wTAGTS8xEf+BCh
6fSBjp+K7npH9eyCmSSbvWp5MF2OY6b3/ek/t8jD8Hdb5bL4fmLI2aNRyhisAKTPORurfSYqZJHlxhHHerRf2aTsdVlYXREgMN
0FcI49f2GTQ17M0ejobBZYXAErUSwx4D73vJYC+eZ7BoH6vT3W5spnd2kTExkPusxR5sULWY9zBKwLEH+ouvJdQ7iTfSQamc3N
uyCKlexVV5XT4xsqMdVr+OY7qfVXNZ9dI222rSADZBXYYADKUPFPwhmNHan7qyy9FAvyucb39ijFOFIHRbXXCmeh85nAIQzjTA
qXJwIhCe5T3YcvekXeW5I0whgOG7NNr0QISqSk9nM6bBxrTMo8pXz4tX1PDBdqoXrmIaT8GVZCLherQyCS+cpJnwb9EvYz//vE
oRAo6bgAYewqTm5mV7YnT0w+t3te9d6djgTOCAMPcSj+ZOtEEqZvizLZMUEZIAT929/g9Zyw9zcqIV7ZsrSAAgNxHmDFX3EYfm
DAu8T6BPPoSI9EVYxPmZHpCxhLqr5ZcIPEoE69dSSTwGwA/Dp3VfTMNGu0b6wUTjVqKd7fvZiquVjKqhRQmVqagxY0o8vJ8W/e
COD/PRhqo4mWudyauyR4yfv6hwpUNxEU5z+AkRutkR/yBlHR8ARiXilsvlV6jcVvBcwFBDxc2g4DgDNIhf1xa8LhBMlr+P6wx4
wNd2HzsdX53fVsDE9+R4UluhaFlYNP9mG8r3PqRy7Sha92w647hRabgINUSpRad8z5Vkx3DBLtkKaKaIJSNkkzhMq9rwwn9DnA
zQFwxWpIbezYTZxVVGPQF5bsshZ1nRhmFpHaCOoCx1oLn40Nj1aL+/xL6LT6TfeacdD8H+2Dgt2c4PXcuIEaOsDZV7TzEewEPh
p4Gt2l/S6DlbAmOW5GkkgdAZotLDos0rLmKKxOSext+7/zhH3TyU0ILz+JV0vigEB4Hzrihv+IJQTTlnZnM8us9kjxAT8c+eIO
bH0LUrew9EoEAMxt2Wb16/zGi7BpgWMorbBdiFWDzsIE11QzjNmQ7WuNuzb6NpG5MAszmc78TEcszn6OO1e+IIjM1Hq5Zcdexz
uePF2ZuZfd/UVM1+pVGha7+T4EJmEkifvqyGIHiG6sKx1HIkjKvxwypuwk70BoPWycjFExTC2H2EGbtmjFh1jhhLr8gjMSHvc+
jrk3xYhcjBzwDjyyJ38esTF+8dkGEpJDzL0pzdHHnSxJCAzIMLl6iOB3woZX9GQJ48nbEdh2V6Z4dB46H0vpH5pTl8ZxvhwQp7
77FYUCNCoJNaXIk23M+A7t/0EYG3Zel/F4C8LBDRQ2Ugo5uKc3pz0FAfU38baSKgpNdoeSjQ+g0GRwtwZi5RXGzH0qGh7n19+W
p2jbAbWtpt8/+g1lAeWh+5tfjtU1pORUemdiv8H5FbsutdJ46JNJTMRZllYkqGXZVErLK/GtfAzhRboQbVJeQ2DjtlItFcBKZL
RIPFKkI/MSCXHWBFTAujJE0knmtMyl0w4AM7LIp7E2Qa5pnsAg3P/pcXNODgLAnyrLgcSWRsAAKydisYylo0JIbOkvlnd7SHlM
J8uSlwzG3ck2bP1zMfG2ZlOppp/hPajLG2FGaGz9M5/v5v4NQHciF/IkMsoTWfTJ+RMYSKk1NRiXnaXo1EaO2WyzM3XkElBaCF
26rVTxnYM3t8ZCTvk2KB0Q49pekREBS/a7gxbVjzfmHk9g9uFb5FKgeWrDXDCHB3VuZfiMCkxA6YJnyM9JMgrFa8SrsAbxWqQH
H0OhNs/eKH15TonrunU1aMhl5nWj4RaBP9VfWIQnh6y5c0/8wYQkEnBpcX+kTLQqrrWfNbZ/rKFRcoVyK2PjQkZ+/KYzw4VzqM
LOtjFZXECwMq8WFOpAYuzN5eVj5ufi4inXJCUoogzu94hpVP4tWb/dCdJv73wFz3wV7tbkLndfScVUixHMjOFPXh4KkzSDoD9V
539DX5TVsxD2rD4YBYHVEoKwBh5ARJICK/xuOGcyElX9ztUgdbuBT2hnGB0KGtYeNKeB/kF51eAQABIAIEACAgxMpCOKC5I4IN
zFCab3WEm8geco2dTC9jbwZ/icwUhizsy8h+S1zi/igwj9nyp7rzqH/2eaLz5x2RgaZ7dUISLOTaO3+7ziNF13crBnSjGNUWeQ
kcWogPr2+15gh+sbLcjxTkX87qFnpaNt7dS+olQ8nw+JX7mKuRWfUf0Cl+I20JAiACASECAg=='),
('shared_values', 1, 1000000060, 4, 1000004800, 304, '
emgDAKkPmLIDBDICAQC8lOvcCwDIJAY8D/BABRACCA8FAEAAIzLuHgAAEwqWBgAAI5YBtFsAAAMC
ngEAAN5fUroDBQcBAAICITIyIUqGjIYDBQcBAAIBIQoKIYxThBQOCgcBAU/vvffee++99957AgJo
S5YBroMKACGbFNgbAwUHAQACACECAiE='),
('shared_values', 9223372028264841217, 2147418112, 9223372028264841217, -2147483648, 0, '
emgDARU1AVACARmCgICAwP////8BvJTr3AsAhCUAUAC3AgAAuZ91LQKheAEAHgBnqY5LiQMjLrBz
o24AjNmYRAGwTDyAhzjcnM7g0QWbTsFhPI71Y1L5ofHKd8pJTKeSb9mZuutjCSMIHeMWKncevB9Z
bhNrfpF6TW80HfHQUNlVMfEFj07zKzIDEyObwWSueZnoFLX/pwuM3UN5hlVxPHyu+P4dXZMKpkNe
+cNWsMxvsyMkqZM6NPW38R9rjv3FWwOclQZr9eej4mBmqK8OCrrl2up2tw3q22r4OQ+/26Z6T0O6
OnFOGzD5Qci0h/Oj6X40JmwDZRLlpPtXyojHDUK9JmasBidNw2UHoRIhrnapqprEVBpDeHc+jBaT
yEP38XPp9pXnKuAHIPbq59L5QXt6FPx5rOYOLMoSs1beS9pceoz2cslhHoV1YR64IfNiggnOoo5m
AkzQZEY='),
('rest_values', 1, 1000000060, 6, 1000018000, 1800, '
emgDAJP6LCMDBpkBAgEAvJTr3AsAlIwBAKwCABALAKBKmxUzEzEABBMKrhcAACzSDiOgH9wHxBQHONZEAgAAAAAAAPA/6y830QxS
MUAVp/beHCGrQAhZ8/jCH26lAQMAwg/tYwA8hdMBBjzNzMzMzMwjwAAAAAAAAACA/f////+tksAIAAAAAAAAOUACAIDgN3nDQcMA
gOA3ecNBQwAAAAAAAAAA6SOdZwIFoXgCASEKCgEgALtHBuAC2AKheAICAAmgH1zdDi1HyuPY0l/KmkxFKqD7aYwTkCDoSa7POKsk
9vwXNNQtaSNYQFedCcQN3ezERT9iXmiWoyShW+J2VKrWUezQL11aLfIxgy5lmd+BswKXgtAGtSfvWfz2dc04nuVSCloDVSn+tE4R
+BMIBUaNSkph4S5N9kcth6kt+ls7Uo5JnoiF14aJDL3PBvwbE/NgYJjOquMjh58wipB05eak10n6iL7PsDEoymr6KI4P/aq7emQx
8Xc6nsAQcjGojSgCnE8NYPvyM44VtDdoxEDrfxTRMC+wrDMVmlLd9YxaPKClY6jL4XY10XzlgeWySW4VCa6bUsPjndJK2KHmn5SV
fgIA7a/jP0BcmuUcosfN4K9/6+Ax2ewOGQ9zfmYshPoogUroGpkA3lxQ23ytsbsjxtiPbPwokAogAlJDDEJ6LMS+R+EyulIhh1NM
1+aE7CJrxNIHASAAjH+kdgLxDKF4AiCeJgKAgICAgICA4P8Bmu/558yn0AbT0cyl8gRJDQstmaRcjuTr63FIxTY9v51phmy/gJug
YjcAYqO/SD0aMq2jZmKuD2a7nlQAUTc5X3gHv4xEnETl77WCjDVtAGVu35/25bTKV8Y2caOPFKLYTgPT+zbyDJ3rNoXqIlevkeyF
40/2fZt1fzs1CESP01jUxwMkEfv12tqi4N8+KczdFAh014H7NQTQ9t8G4R+UDyp70jZwyeExeT8uLO4mJo2B9KXZFX137bh7fQmR
q4XIflhFyDz2CQzx9d4v3zD732l8+l4W33E6NPdDoLVRAIAs8xHdCX1KO6TseyAuxDBeoXgpXI96bqFLP0fAMZD4mxhnd70qYbLB
4j8zYxsfw452HqeOGqU0cNolfQxfnsEAS7iG3sBecy7PszX7r+U/bF3loAPJv9dsB/GVTUmZsVelmG4XU8y3Whf0IZTP2yx2O9Ms
eQC2w8h2IiOa0bMmJEKkNWG/B0dTXtB/Er68cD93IGy896IObOeVgvv+92T7fYy9jhM1R0/2ownLa3+pHnGeRuHhu7tbx9+GkPHz
sfu0oAhrQyG8Z5rX9/eDlveap5tLh8Sd5Sv7rhbZmkgHMs73aLqHge3cxOBREbzo1z24iOjFFqXVdeVUR2lcCJ/52NbHpVCm3Rfl
sWWNEvx52OWAV+O1FMpmak1x3hNXKbHQ6NRO43IE1Vrb+zOFvvnJScmp5qlR3Dl0OXTKkmEC7a1zqj138jqzTvzW9H+T5XcE1bR1
55EyGxxO/EvbO+rV0h0BZ6v03ShiKM8C331Jg76VOXLRtx2F/O9aAR/DrbMxx/iBd6nxYiPMYWxLNVkWXR9tEkVS/0Mk0XlOIkFc
sm1WDnmnYxvDvY7bqNC6xNoihOs96Aaf4YlIwf6CQzZwSO+4BgAAAAAAuAaraYClfF80gIJDeBNQxCNvBprfVv6BchzOl2BKfOcr
iJx6cAz6nDZ4g104svRgoOa9Qtii/w0SqM612QSYE6JLQd71H1jI44pQF/Li+SQGQAojnYE6Ci5saOP4Pxx2netbB8bVq+lB2fsE
fyjyS+Mg2BQ/gIiAd6YxgniQvpD4aMhAJXp5epOJGNlxdaJv33GhKK0MXil82vuWinYvY7VC/KYzsfCyJUAtOBT+iwtpKsfxglGV
FsBgkaDrMG4LnXOMaPniKgNhhyvOwKGZZDTUUdlOjUks9WAjAb+B22CNya43rEubHg6EdTaUY8kRJ+jwmpDNOhjqteMOslLaxIO+
ESj0kIAAxD0OCumeDyqfD/OjvDCQ/xjy5JRAloXjUJDvEwEfJGLfaQoJG8tCQ6oCRfoQmLfVSMQkqL4USSsI0EXsiJ+bkYtAsXBk
FEeXHrEYvz5IauZ4NZJaa7SWZMq++ychsOWQSvjpS8gS80b9ugTeavMwYQ9JyEzieIlUk/V3p90EOBCFORGbkeZO2ISZ2pNadMz+
pI3rtkFxgUbtUC7m21oUbriDHqU7vo5JEdrQ3VLsHanVlPD14jxFutkRUVltfrlU2gJTSxUgPv5ZJdIpRVi5MISBVtZbJbyVRSfo
dQXAPS1fUX4AN1gqamYoFlPusZBlX1DOZZkS/dpZbGVXkBYGlWuqZYNPLGwp1XBuW7TqNPQWAf0jw9WACdVNqguHwnzORHU8ny/l
CtJndFE89bG8CH19gD2jah9vKHrdR5orEfjRhYcwftBzFpefdjJ86CezE8v6EXhg3X4Sx+XBH2iiFvMne2tr/WmH6oN/XJcm65+N
uU79R7J98/9JBnckgMzj7BKgs2IpB6jof2QCshZSv4DYZUs5oOA4qxCoIZS/BNIPw1SBYqpTXqBpjdgZyFDKBQdi2wzlgWAoFoIg
g221Iki0ITgJUkpucIKiVaKkoE2nRSuoEopXC1piIveCsLkGxiB4zowzCAACCBhAoICBAwgSKFjAoIGDBxAiSJhAoYKFCxgyaNjA
oYOHDyBCiBhBooSJEyhSqFjBooWLFzBiyJhBo4aNGzhy6NjBo4ePH0CCCBlCpIiRI/4AVUzMvEy5gBG6QS24BIHgDYgBK9AEisAL
4QAaAANYAAowASIABHgADqABNAAGsAAWgAJQAAkgASAABIAADsABOAAGwAAYAANQAApAASgABaAAEAACQAAIAAEgAARgAAyAATAA
BoBACAABIAAEgAAQAAJAAAgAPwABIADQ6Y5YAo4DoXgCEAAKAFC7dXO2pEgMQOZTlmVSp5jW696xgCdAAkGSyuVTmasY3NO8QYWy
qjQXsgCdao1SeINu4IpT/BHm2dzkURgTbwk3R0nl9CjsoPfzz8kWvqu+Isti3ossJwhlQcQO0h55nlm/3bfNQHwWF5lCE6CnKfwR
eoeBfQKCAkYZJUkKCt6FMns7K15lbZZPGy6mjmG8YSx4qWhCg71tXe9fJWM2GK2MnqUOnGbCKwxFkOjSOid6OZFeRL5tyYZBoijd
fRSC7/lLXZ9fXIz1a0a8IQYhLUbpRhzWt31qAGy33BmO+Re+vjoaEPo/CKMBfAG/doYkyka701PRuddryTGcZ8u6qBNpX9lA2WYj
WSuRwCVmpsOVe4pWhDnk+E+UKfUJfdD8JfgfQIisNWch9LBycK/N7iIPk2m9gwwD5zQ54DYiP4q9PtKl4wTgmROUbXBbw84dVhoz
YzbwIkhKACIQ2hAGQvSwEHZvKrQMXVJBFo5idKl8YPMipViqPhgA2ebjl/zD29IBAAABAQYAAQEgAJBVdFsCtwKheAopAAEAEEII
IYQQQgghhBBCCCGEEEIIIYQQQgghhBBCCCGEEEIIIYQQQggRAAfFAbMQ09hgOQkFz0iFHWh/qU7UmpGynJAs8JZ0DVm/pIjTVCAP
sSeyR/otiFYxoFRpoK4H05b4qEYw3gfqsLV2dEadA5VNJmtNzPbQFfiivlHgYLm0ejaUCrJlHF7BZfV1uTV0lYpCA96WSgpJAKhB
IgRQB29JOEF2DOUYAw5kDZ2ukfU9ecGPba/nc6liS+Mu0/CijGGN7SOC6UCLThZaRI23AeQofBWasERa6pRCxTjUQeiTymw6k6Kz
V/1BAyTp6ykO3jwhE2gTAm96ysImq0m4LBABAAI/DyAhIIgYkGOIgzioYJcbkA0RhiyDaghwlB5YI7NQirYAAAAAAAAAQAAAAAAA
AAAgASAA7HeDkgJnoXgCEiAyAwOqgIACAP3A7JCPx3yBv5Pv8LgDAAIAJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmS
JEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSASAA');
\set ECHO all
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
UPDATE zbxhist_packed.double_values_p20010909 SET payload = set_byte(payload, 2, 4);
SELECT * FROM double_values WHERE itemid = 1;
SELECT count(*) FROM double_values;
SELECT * FROM zbxhist.verify('double_values');
-- it is not taken for damage
SELECT * FROM zbxhist_internal.salvage_rows('zbxhist_packed.double_values_p20010909', 'double_values');
-- an INSERT of its time succeeds, and what it stores is read
INSERT INTO double_values VALUES (1, 1000000060, 3.5, 1);
SELECT * FROM ONLY double_values;
UPDATE zbxhist_packed.double_values_p20010909 SET payload = set_byte(payload, 2, 3);
SELECT * FROM differences();

DROP SCHEMA packed_format CASCADE;
