# zbxhist: build with PGXS, "make PG_CONFIG=/path/to/pg_config"
EXTENSION  = zbxhist
EXTVERSION = 1.1
MODULE_big = $(EXTENSION)
PGFILEDESC = "zbxhist - fast ingest, daily partitions and retention for Zabbix history"

# explicit and sorted: a new file is a decision
OBJS = \
	$(WIN32RES) \
	src/catalog/bounds.o \
	src/catalog/functions.o \
	src/catalog/owned_table.o \
	src/catalog/owner_rights.o \
	src/catalog/packed_days.o \
	src/catalog/partition_set.o \
	src/catalog/privileges.o \
	src/catalog/stored_setting.o \
	src/compat.o \
	src/guc.o \
	src/ingest/attempt.o \
	src/ingest/batch.o \
	src/ingest/day_search.o \
	src/ingest/frame.o \
	src/ingest/kept_rows.o \
	src/ingest/key_match.o \
	src/ingest/key_number.o \
	src/ingest/key_search.o \
	src/ingest/lookup.o \
	src/ingest/lookup_day.o \
	src/ingest/other_keys.o \
	src/ingest/path.o \
	src/ingest/probe.o \
	src/ingest/route.o \
	src/ingest/row_type.o \
	src/ingest/stray.o \
	src/ingest/target.o \
	src/maintenance/as_owner.o \
	src/maintenance/counters.o \
	src/maintenance/default_guard.o \
	src/maintenance/drop_guard.o \
	src/maintenance/item_index.o \
	src/maintenance/move.o \
	src/maintenance/move_lock.o \
	src/maintenance/packing.o \
	src/maintenance/moving.o \
	src/maintenance/own_rows.o \
	src/maintenance/own_transactions.o \
	src/maintenance/worker.o \
	src/packed/codec_bits.o \
	src/packed/codec_buffer.o \
	src/packed/codec_bytes.o \
	src/packed/codec_double.o \
	src/packed/codec_frame.o \
	src/packed/codec_integer.o \
	src/packed/codec_line.o \
	src/packed/day.o \
	src/packed/day_apply.o \
	src/packed/day_delete.o \
	src/packed/day_key.o \
	src/packed/day_changes.o \
	src/packed/day_conflicts.o \
	src/packed/day_damage.o \
	src/packed/day_decode.o \
	src/packed/day_modify.o \
	src/packed/day_newest.o \
	src/packed/day_prefetch.o \
	src/packed/day_reader.o \
	src/packed/day_stream.o \
	src/packed/day_version.o \
	src/packed/day_write.o \
	src/packed/fdw.o \
	src/packed/fdw_analyze.o \
	src/packed/fdw_bounds.o \
	src/packed/fdw_direct.o \
	src/packed/fdw_estimate.o \
	src/packed/fdw_explain.o \
	src/packed/fdw_modify.o \
	src/packed/fdw_options.o \
	src/packed/fdw_parallel.o \
	src/packed/fdw_plan.o \
	src/packed/fdw_quals.o \
	src/packed/fdw_scan.o \
	src/packed/layout.o \
	src/packed/merge.o \
	src/packed/merge_group.o \
	src/packed/moved_rows.o \
	src/packed/pack.o \
	src/packed/repack.o \
	src/packed/row_buffer.o \
	src/packed/row_compare.o \
	src/packed/row_hash.o \
	src/packed/row_key.o \
	src/packed/row_map.o \
	src/packed/row_sort.o \
	src/packed/salvage.o \
	src/packed/salvage_blocks.o \
	src/packed/salvage_report.o \
	src/packed/scan.o \
	src/packed/segment.o \
	src/packed/settled.o \
	src/packed/source.o \
	src/packed/segment_directory.o \
	src/packed/segment_reader.o \
	src/packed/segment_stats.o \
	src/packed/segment_writer.o \
	src/packed/unpack.o \
	src/packed/unsigned_numeric.o \
	src/packed/value_check.o \
	src/packed/value_check_array.o \
	src/packed/value_check_jsonb.o \
	src/packed/value_type.o \
	src/packed/verify.o \
	src/plan/clock_bounds.o \
	src/plan/exclude.o \
	src/plan/exec_insert.o \
	src/plan/fast_insert.o \
	src/plan/fresh_snapshot.o \
	src/plan/item_scan.o \
	src/plan/literal.o \
	src/plan/numeric_double.o \
	src/plan/ordered_append.o \
	src/plan/prune.o \
	src/plan/range_scan.o \
	src/plan/row_layout.o \
	src/plan/select.o \
	src/plan/stand_in.o \
	src/read/accumulator.o \
	src/read/add.o \
	src/read/aggregates.o \
	src/read/arguments.o \
	src/read/delete.o \
	src/read/heap_source.o \
	src/read/item_range.o \
	src/read/last_values.o \
	src/read/parent.o \
	src/read/partition_walk.o \
	src/read/range.o \
	src/read/range_support.o \
	src/read/reader.o \
	src/read/row_set.o \
	src/zbxhist.o

BUILT_SQL = sql/$(EXTENSION)--$(EXTVERSION).sql
# the update to it from the version before
UPDATE_FROM = 1.0
# what CREATE OR REPLACE cannot change
UPDATED_BY_HAND = schema/% packed/zbxhist.sql tables/maintenance_log.sql \
	tables/managed_schema.sql tables/packed_change.sql tables/packed_day.sql \
	tables/parent_config.sql tables/parent_state.sql tables/partition_state.sql \
	tables/stray_mark.sql
BUILT_UPDATE = sql/$(EXTENSION)--$(UPDATE_FROM)--$(EXTVERSION).sql
SQL_PARTS      = $(addprefix $(srcdir)/sql/,$(shell cat $(srcdir)/sql/order.txt))
DATA_built     = $(BUILT_SQL) $(BUILT_UPDATE)
# released versions and the updates between them, as they were
DATA           = $(filter-out $(DATA_built),$(wildcard sql/$(EXTENSION)--*.sql))

PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS   = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
SHLIB_LINK  = -lzstd

REGRESS        = $(patsubst $(srcdir)/test/sql/%.sql,%,$(sort $(wildcard $(srcdir)/test/sql/*.sql)))
REGRESS_OPTS   = --inputdir=$(srcdir)/test --load-extension=$(EXTENSION)
ISOLATION      = $(patsubst $(srcdir)/test/specs/%.spec,%,$(sort $(wildcard $(srcdir)/test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=$(srcdir)/test --load-extension=$(EXTENSION)
TAP_TESTS      = 1
PROVE_TESTS    = $(srcdir)/test/t/*.pl
EXTRA_CLEAN    = $(BUILT_SQL) $(BUILT_UPDATE)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS knows no header dependencies
$(OBJS): $(wildcard $(srcdir)/src/*.h $(srcdir)/src/*/*.h)

# one object a file in sql/, one script for CREATE EXTENSION
$(BUILT_SQL): $(SQL_PARTS) $(srcdir)/sql/order.txt
	@mkdir -p $(dir $@)
	cat $(SQL_PARTS) > $@

# what differs is in sql/upgrade; functions and views come as they are now
$(BUILT_UPDATE): $(BUILT_SQL) $(srcdir)/sql/upgrade/$(UPDATE_FROM)--$(EXTVERSION).sql
	cat $(srcdir)/sql/upgrade/$(UPDATE_FROM)--$(EXTVERSION).sql > $@
	cat $(filter-out $(addprefix $(srcdir)/sql/,$(UPDATED_BY_HAND)),$(SQL_PARTS)) | \
		sed -E 's/^CREATE (FUNCTION|PROCEDURE|VIEW) /CREATE OR REPLACE \1 /' >> $@
