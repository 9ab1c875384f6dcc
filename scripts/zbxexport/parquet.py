"""Writes the rows of a day as a Parquet file, and reads it back."""

import hashlib
import json
import os

from zbxreport import collect

from zbxexport import table as source

# pyarrow parses CSV in blocks, and a row must fit in one
BLOCK = 64 << 20
ROW_GROUP = 1 << 18


def libraries():
    """Imports pyarrow, which may be missing."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise collect.ReportError(
            "Python has no pyarrow",
            "python3 -m venv /opt/parquet && /opt/parquet/bin/pip install pyarrow"
            " && export PYTHON=/opt/parquet/bin/python3",
        ) from None
    return pyarrow


def type_of(column, is_wide):
    """Returns the Parquet type of a column of PostgreSQL."""
    pa = libraries()
    name, precision, scale = column["type"], column["precision"], column["scale"]
    if source.is_narrow(column) and not is_wide:
        return pa.uint64()
    if name == "numeric" and precision and precision <= 38:
        return pa.decimal128(precision, scale)
    simple = {
        "int2": pa.int16(),
        "int4": pa.int32(),
        "int8": pa.int64(),
        "float8": pa.float64(),
        "bytea": pa.binary(),
    }
    return simple.get(name, pa.string())


class Writer:
    """Writes days of a table."""

    def __init__(self, table, items=None):
        self.pa = libraries()
        self.table = table
        self.items = items
        if items is not None:
            self.ids = self.pa.array(items["ids"], self.pa.int64())

    def schema(self, is_wide):
        """Returns the columns of a file: those of the table, then the names."""
        fields = [
            self.pa.field(column["name"], type_of(column, is_wide)) for column in self.table.columns
        ]
        if self.items is not None:
            names = self.pa.dictionary(self.pa.int32(), self.pa.string())
            fields += [self.pa.field(name, names) for name in ("host", "item")]
        return self.pa.schema(fields)

    def write(self, path, start, end):
        """Writes the rows of a range; returns their sums."""
        sums = self.write_as(path, start, end, False)
        return sums if sums["fits"] else self.write_as(path, start, end, True)

    def write_as(self, path, start, end, is_wide):
        """The same with numerics as decimals, or as uint64; then it writes nothing if they do
        not fit."""
        psql = self.table.stream(start, end)
        try:
            sums = json.loads(psql.stdout.readline() or "null")
            if sums and not is_wide and not sums["fits"]:
                return sums
            if sums and int(sums["rows"]):
                self.write_batches(path, psql.stdout, self.schema(is_wide))
        except self.pa.ArrowInvalid as error:
            raise collect.ReportError(f"a row cannot be stored: {error}") from None
        finally:
            psql.stdout.close()
            errors = psql.stderr.read().decode(errors="replace")
            status = psql.wait()
        if status != 0:
            raise collect.ReportError(collect.first_error(errors))
        return sums

    def write_batches(self, path, stream, schema):
        """Copies CSV into a file."""
        pa = self.pa
        names = [column["name"] for column in self.table.columns]
        types = {name: schema.field(name).type for name in names}
        reader = pa.csv.open_csv(
            stream,
            pa.csv.ReadOptions(column_names=names, block_size=BLOCK),
            pa.csv.ParseOptions(newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types={n: pa.string() if t == pa.binary() else t for n, t in types.items()},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        order = [
            pa.parquet.SortingColumn(names.index(name)) for name in self.table.order.split(", ")
        ]
        with pa.parquet.ParquetWriter(
            path, schema, compression="zstd", sorting_columns=order
        ) as writer:
            for batch in reader:
                writer.write_table(self.finished(batch, schema), row_group_size=ROW_GROUP)

    def finished(self, batch, schema):
        """Converts a batch of CSV to what is stored: decoded bytes, and names."""
        pa = self.pa
        arrays = [
            (
                pa.array(
                    [None if v is None else bytes.fromhex(v[2:]) for v in array.to_pylist()],
                    pa.binary(),
                )
                if schema.field(index).type == pa.binary()
                else array
            )
            for index, array in enumerate(batch.columns)
        ]
        if self.items is not None:
            places = pa.compute.index_in(batch.column("itemid"), value_set=self.ids)
            arrays += [
                pa.DictionaryArray.from_arrays(places, pa.array(self.items[name], pa.string()))
                for name in ("host", "item")
            ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def sums_of_file(self, path):
        """Returns the sums of a file's rows in the form of table.Table.sums(), if the rows are
        sorted."""
        rows = 0
        totals = {column["name"]: [0, 0] for column in self.table.columns}
        keys = self.table.order.split(", ")
        last = ()
        for batch in self.pa.parquet.ParquetFile(path).iter_batches(columns=list(totals)):
            rows += batch.num_rows
            for column in self.table.columns:
                array = batch.column(column["name"])
                totals[column["name"]][0] += array.null_count
                totals[column["name"]][1] += self.total(array)
            order = [batch.column(key) for key in keys]
            if not self.in_order(order) or tuple(key[0].as_py() for key in order) < last:
                raise collect.ReportError(f"the rows of {path} are not in order")
            last = tuple(key[-1].as_py() for key in order)
        return {"rows": str(rows)} | {
            name: [str(nulls), str(total)] for name, (nulls, total) in totals.items()
        }

    def in_order(self, keys):
        """Are the rows sorted by their keys, without duplicates?"""
        if len(keys[0]) < 2:
            return True
        compute = self.pa.compute
        result = None
        for key in reversed(keys):
            before, after = key.slice(0, len(key) - 1), key.slice(1)
            rest = compute.equal(before, after)
            rest = rest if result is None else compute.and_(rest, result)
            result = compute.or_(compute.less(before, after), rest)
        return compute.all(result).as_py()

    def total(self, array):
        """The sum of a column, computed as table.digest() does."""
        pa = self.pa
        if pa.types.is_floating(array.type):
            numbers = pa.compute.if_else(pa.compute.is_nan(array), None, array)
            array = numbers.view(pa.int64())
        if pa.types.is_integer(array.type) or pa.types.is_decimal(array.type):
            wide = array.cast(pa.decimal128(38, getattr(array.type, "scale", 0)))
            return pa.compute.sum(wide).as_py() or 0
        return sum(
            int(hashlib.md5(v if isinstance(v, bytes) else v.encode()).hexdigest()[:15], 16)
            for v in array.to_pylist()
            if v is not None
        )


def compare(name, stored, written):
    """Raises an error unless the file's sums are those of the table."""
    for key, value in written.items():
        if stored[key] != value:
            raise collect.ReportError(
                f"{name} does not have what is stored: {key} adds up to {value}, not {stored[key]}"
            )


def into_place(temporary, path):
    """Renames a complete file to its final name, durably."""
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
