# zbxhist: build with PGXS, "make PG_CONFIG=/path/to/pg_config"
EXTENSION  = zbxhist zbxhist_migrate
EXTVERSION = 1.0
MODULE_big = zbxhist
PGFILEDESC = "zbxhist - fast ingest, hourly partitions and retention for Zabbix history"

# explicit and sorted: a new file is a decision
OBJS = \
	$(WIN32RES) \
	src/aggregate/aggregate_parallel.o \
	src/aggregate/aggregate_path.o \
	src/aggregate/aggregate_plan.o \
	src/aggregate/aggregate_query.o \
	src/aggregate/aggregate_scan.o \
	src/aggregate/clock_keys.o \
	src/aggregate/column_filter.o \
	src/aggregate/filter_rows.o \
	src/aggregate/filter_values.o \
	src/aggregate/groups.o \
	src/aggregate/packed_groups.o \
	src/aggregate/parallel_path.o \
	src/aggregate/segment_groups.o \
	src/aggregate/spilled_groups.o \
	src/catalog/bounds.o \
	src/catalog/columns.o \
	src/catalog/functions.o \
	src/catalog/own_tables.o \
	src/catalog/owned_table.o \
	src/catalog/owner_rights.o \
	src/catalog/packed_days.o \
	src/catalog/packed_table.o \
	src/catalog/partition_set.o \
	src/catalog/policy.o \
	src/catalog/stored_texts.o \
	src/catalog/triggers.o \
	src/compat.o \
	src/compat_marks.o \
	src/custom_scan.o \
	src/guc.o \
	src/hooks.o \
	src/ingest/batch_flush.o \
	src/ingest/batch_open.o \
	src/ingest/batch_route.o \
	src/ingest/batch_rows.o \
	src/ingest/counters.o \
	src/ingest/day_keys.o \
	src/ingest/fast/exec_insert.o \
	src/ingest/fast/fast_insert.o \
	src/ingest/fast/literal.o \
	src/ingest/fast/numeric_double.o \
	src/ingest/fast/row_layout.o \
	src/ingest/frame.o \
	src/ingest/insert_triggers.o \
	src/ingest/key_look.o \
	src/ingest/key_match.o \
	src/ingest/key_number.o \
	src/ingest/left_out.o \
	src/ingest/lookup.o \
	src/ingest/path.o \
	src/ingest/route.o \
	src/ingest/table_keys.o \
	src/maintenance/as_owner.o \
	src/maintenance/drop_guard.o \
	src/maintenance/move.o \
	src/maintenance/native_partition.o \
	src/maintenance/own_rows.o \
	src/maintenance/refuse.o \
	src/maintenance/timeouts.o \
	src/maintenance/worker.o \
	src/packed/changes/changed_day.o \
	src/packed/changes/day_changes.o \
	src/packed/changes/day_conflicts.o \
	src/packed/changes/write_changes.o \
	src/packed/day/archive.o \
	src/packed/day/archive_away.o \
	src/packed/day/archived_group.o \
	src/packed/day/day_damage.o \
	src/packed/day/day_groups.o \
	src/packed/day/day_index.o \
	src/packed/day/day_pages.o \
	src/packed/day/day_reader.o \
	src/packed/day/day_stream.o \
	src/packed/day/day_times.o \
	src/packed/day/day_write.o \
	src/packed/day/open_days.o \
	src/packed/day/scan.o \
	src/packed/day/settled.o \
	src/packed/day/shared_items.o \
	src/packed/day/source.o \
	src/packed/values/day_decode.o \
	src/packed/values/layout.o \
	src/packed/values/row_buffer.o \
	src/packed/values/row_compare.o \
	src/packed/values/row_map.o \
	src/packed/values/row_offset.o \
	src/packed/values/unsigned_numeric.o \
	src/packed/values/value_check.o \
	src/packed/values/value_type.o \
	src/packed/fdw/fdw.o \
	src/packed/fdw/fdw_analyze.o \
	src/packed/fdw/fdw_bounds.o \
	src/packed/fdw/fdw_direct.o \
	src/packed/fdw/fdw_estimate.o \
	src/packed/fdw/fdw_explain.o \
	src/packed/fdw/fdw_lock.o \
	src/packed/fdw/fdw_modify.o \
	src/packed/fdw/fdw_parallel.o \
	src/packed/fdw/fdw_plan.o \
	src/packed/fdw/fdw_quals.o \
	src/packed/fdw/fdw_scan.o \
	src/packed/fdw/row_key.o \
	src/packed/format/codec_bits.o \
	src/packed/format/codec_buffer.o \
	src/packed/format/codec_bytes.o \
	src/packed/format/codec_double.o \
	src/packed/format/codec_integer.o \
	src/packed/format/segment_columns.o \
	src/packed/format/segment_directory.o \
	src/packed/format/segment_reader.o \
	src/packed/format/segment_stats.o \
	src/packed/format/segment_times.o \
	src/packed/format/segment_writer.o \
	src/packed/jobs/archive_day.o \
	src/packed/jobs/import.o \
	src/packed/jobs/merge.o \
	src/packed/jobs/pack.o \
	src/packed/jobs/packing.o \
	src/packed/jobs/row_sort.o \
	src/packed/jobs/unpack.o \
	src/packed/jobs/verify.o \
	src/plan/clock_bounds.o \
	src/plan/exclude.o \
	src/plan/interval_query.o \
	src/plan/item_path.o \
	src/plan/item_query.o \
	src/plan/item_read.o \
	src/plan/item_scan.o \
	src/plan/item_select.o \
	src/plan/key_query.o \
	src/plan/prune.o \
	src/plan/range_scan.o \
	src/plan/select.o \
	src/plan/stand_in.o \
	src/read/aggregates.o \
	src/read/double_total.o \
	src/read/heap_source.o \
	src/read/numbers.o \
	src/read/parent.o \
	src/read/reader.o \
	src/read/row_set.o \
	src/read/total.o \
	src/rows/attempt.o \
	src/rows/item_index.o \
	src/rows/item_list.o \
	src/rows/item_range.o \
	src/rows/kept_tables.o \
	src/rows/move_lock.o \
	src/rows/moving.o \
	src/rows/partition_walk.o \
	src/rows/row_type.o \
	src/rows/stray.o \
	src/rows/target.o \
	src/rows/work_lock.o \
	src/write/add.o \
	src/write/delete.o \
	src/zbxhist.o

# migrations have an extension of their own, whose C functions are in the same library
CORE_SQL      = sql/zbxhist--$(EXTVERSION).sql
MIGRATE_SQL   = sql/zbxhist_migrate--$(EXTVERSION).sql
CORE_PARTS    = $(addprefix $(srcdir)/sql/,$(shell cat $(srcdir)/sql/order.txt))
MIGRATE_PARTS = $(addprefix $(srcdir)/sql/,$(shell cat $(srcdir)/sql/migrate/order.txt))
DATA_built    = $(CORE_SQL) $(MIGRATE_SQL)

PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS   = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
SHLIB_LINK  = -lzstd -Wl,-Bsymbolic

REGRESS        = $(patsubst $(srcdir)/test/sql/%.sql,%,$(sort $(wildcard $(srcdir)/test/sql/*.sql)))
REGRESS_OPTS   = --inputdir=$(srcdir)/test --load-extension=zbxhist
ISOLATION      = $(patsubst $(srcdir)/test/specs/%.spec,%,$(sort $(wildcard $(srcdir)/test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=$(srcdir)/test --load-extension=zbxhist
TAP_TESTS      = 1
PROVE_TESTS    = $(srcdir)/test/t/*.pl
EXTRA_CLEAN    = $(DATA_built)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# loops over columns of values
src/packed/format/codec_bits.o src/packed/format/codec_double.o \
src/packed/format/codec_integer.o \
src/packed/format/segment_columns.o \
src/read/double_total.o src/aggregate/filter_rows.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)

# PGXS knows no header dependencies
$(OBJS): $(wildcard $(srcdir)/src/*.h $(srcdir)/src/*/*.h $(srcdir)/src/*/*/*.h)

# one concept a file in sql/, one script for each CREATE EXTENSION
$(CORE_SQL): $(CORE_PARTS) $(srcdir)/sql/order.txt
	@mkdir -p $(dir $@)
	cat $(CORE_PARTS) > $@

$(MIGRATE_SQL): $(MIGRATE_PARTS) $(srcdir)/sql/migrate/order.txt
	@mkdir -p $(dir $@)
	cat $(MIGRATE_PARTS) > $@
