# zbxhist: build with PGXS, "make PG_CONFIG=/path/to/pg_config"
EXTENSION  = zbxhist zbxhist_migrate
EXTVERSION = 1.0
MODULE_big = zbxhist
PGFILEDESC = "zbxhist - fast ingest, hourly partitions and retention for Zabbix history"

# explicit and sorted: a new file is a decision
OBJS = \
	$(WIN32RES) \
	src/compat.o \
	src/compat_marks.o \
	src/custom_scan.o \
	src/fdw/fdw.o \
	src/fdw/fdw_analyze.o \
	src/fdw/fdw_estimate.o \
	src/fdw/fdw_explain.o \
	src/fdw/fdw_lock.o \
	src/fdw/fdw_modify.o \
	src/fdw/fdw_parallel.o \
	src/fdw/fdw_plan.o \
	src/fdw/fdw_scan.o \
	src/fdw/row_key.o \
	src/format/codec_bits.o \
	src/format/codec_buffer.o \
	src/format/codec_bytes.o \
	src/format/codec_double.o \
	src/format/codec_integer.o \
	src/format/day_decode.o \
	src/format/layout.o \
	src/format/numbers.o \
	src/format/row_buffer.o \
	src/format/row_compare.o \
	src/format/row_map.o \
	src/format/row_offset.o \
	src/format/segment_columns.o \
	src/format/segment_directory.o \
	src/format/segment_reader.o \
	src/format/segment_stats.o \
	src/format/segment_times.o \
	src/format/segment_writer.o \
	src/format/unsigned_numeric.o \
	src/format/value_check.o \
	src/format/value_type.o \
	src/guc.o \
	src/hooks.o \
	src/ingest/batch_flush.o \
	src/ingest/batch_open.o \
	src/ingest/batch_route.o \
	src/ingest/batch_rows.o \
	src/ingest/counters.o \
	src/ingest/day_keys.o \
	src/ingest/exec_insert.o \
	src/ingest/fast_insert.o \
	src/ingest/frame.o \
	src/ingest/insert_triggers.o \
	src/ingest/key_look.o \
	src/ingest/key_match.o \
	src/ingest/key_number.o \
	src/ingest/left_out.o \
	src/ingest/literal.o \
	src/ingest/lookup.o \
	src/ingest/numeric_double.o \
	src/ingest/path.o \
	src/ingest/route.o \
	src/ingest/row_layout.o \
	src/ingest/table_keys.o \
	src/maintenance/as_owner.o \
	src/maintenance/drop_guard.o \
	src/maintenance/move.o \
	src/maintenance/native_partition.o \
	src/maintenance/own_rows.o \
	src/maintenance/refuse.o \
	src/maintenance/timeouts.o \
	src/maintenance/worker.o \
	src/packed/archive.o \
	src/packed/archive_day.o \
	src/packed/archived_group.o \
	src/packed/changed_day.o \
	src/packed/column_filter.o \
	src/packed/conditions.o \
	src/packed/day_changes.o \
	src/packed/day_conflicts.o \
	src/packed/day_damage.o \
	src/packed/day_groups.o \
	src/packed/day_index.o \
	src/packed/day_pages.o \
	src/packed/day_reader.o \
	src/packed/day_stream.o \
	src/packed/day_times.o \
	src/packed/day_write.o \
	src/packed/import.o \
	src/packed/merge.o \
	src/packed/open_days.o \
	src/packed/pack.o \
	src/packed/packing.o \
	src/packed/row_sort.o \
	src/packed/scan.o \
	src/packed/scan_bounds.o \
	src/packed/settled.o \
	src/packed/shared_items.o \
	src/packed/source.o \
	src/packed/unpack.o \
	src/packed/verify.o \
	src/packed/write_changes.o \
	src/read/add.o \
	src/read/aggregate_parallel.o \
	src/read/aggregate_path.o \
	src/read/aggregate_plan.o \
	src/read/aggregate_query.o \
	src/read/aggregate_scan.o \
	src/read/aggregates.o \
	src/read/change.o \
	src/read/clock_bounds.o \
	src/read/clock_keys.o \
	src/read/clock_order.o \
	src/read/copy_to.o \
	src/read/delete.o \
	src/read/double_total.o \
	src/read/exclude.o \
	src/read/groups.o \
	src/read/heap_source.o \
	src/read/interval_query.o \
	src/read/item_path.o \
	src/read/item_query.o \
	src/read/item_read.o \
	src/read/item_scan.o \
	src/read/item_select.o \
	src/read/key_query.o \
	src/read/packed_groups.o \
	src/read/parallel_path.o \
	src/read/parent.o \
	src/read/reader.o \
	src/read/row_set.o \
	src/read/segment_groups.o \
	src/read/select.o \
	src/read/spilled_groups.o \
	src/read/total.o \
	src/tables/attempt.o \
	src/tables/bounds.o \
	src/tables/columns.o \
	src/tables/functions.o \
	src/tables/item_index.o \
	src/tables/item_list.o \
	src/tables/item_range.o \
	src/tables/kept_tables.o \
	src/tables/move_lock.o \
	src/tables/moving.o \
	src/tables/own_tables.o \
	src/tables/owned_table.o \
	src/tables/owner_rights.o \
	src/tables/packed_days.o \
	src/tables/packed_table.o \
	src/tables/partition_set.o \
	src/tables/partition_walk.o \
	src/tables/policy.o \
	src/tables/row_type.o \
	src/tables/stored_texts.o \
	src/tables/stray.o \
	src/tables/target.o \
	src/tables/triggers.o \
	src/tables/work_lock.o \
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
REGRESS_OPTS   = --inputdir=$(srcdir)/test --load-extension=zbxhist --launcher=$(srcdir)/test/programs/brief_statements
ISOLATION      = $(patsubst $(srcdir)/test/specs/%.spec,%,$(sort $(wildcard $(srcdir)/test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=$(srcdir)/test --load-extension=zbxhist --launcher=$(srcdir)/test/programs/brief_steps
TAP_TESTS      = 1
PROVE_TESTS    = $(srcdir)/test/t/*.pl
EXTRA_CLEAN    = $(DATA_built)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# expected output has partitions without their schema
installcheck: export PGOPTIONS = -c search_path=public,zbxhist_partitions

# loops over columns of values
src/format/codec_bits.o src/format/codec_double.o \
src/format/codec_integer.o \
src/format/segment_columns.o \
src/read/double_total.o src/read/filter_rows.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)

# PGXS knows no header dependencies
$(OBJS): $(wildcard $(srcdir)/src/*.h $(srcdir)/src/*/*.h)

# one concept a file in sql/, one script for each CREATE EXTENSION; comments become COMMENT ON
$(CORE_SQL): $(CORE_PARTS) $(srcdir)/sql/order.txt $(srcdir)/sql/comments.awk
	@mkdir -p $(dir $@)
	cat $(CORE_PARTS) | awk -f $(srcdir)/sql/comments.awk > $@

$(MIGRATE_SQL): $(MIGRATE_PARTS) $(srcdir)/sql/migrate/order.txt $(srcdir)/sql/comments.awk
	@mkdir -p $(dir $@)
	cat $(MIGRATE_PARTS) | awk -f $(srcdir)/sql/comments.awk > $@
