//! Settings of a database that a plan may give: each with a type, and none that names a command, a library, a file or an
//! address.

use super::options::DatabaseEngine;
use crate::Refused;
use crate::permitted::{not_permitted, shown, wrong};

/// What the value of a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingType {
    /// True or false.
    Truth,
    /// A number, which may be negative and have a fraction.
    Number,
    /// A number with one of these units or none.
    Amount(&'static [&'static str]),
    /// One of these words, or true or false.
    Word(&'static [&'static str]),
    /// One of these words alone.
    Only(&'static [&'static str]),
}

/// Settings of one type.
struct SettingGroup {
    of: SettingType,
    names: &'static str,
}

/// Source: PostgreSQL's manual, "Setting Parameters".
const TRUTH: [&str; 8] = ["on", "off", "true", "false", "yes", "no", "1", "0"];
const SIZE: SettingType = SettingType::Amount(&["B", "kB", "MB", "GB", "TB"]);
const TIME: SettingType = SettingType::Amount(&["us", "ms", "s", "min", "h", "d"]);
/// A number of more letters is in no setting's range.
const DIGITS: usize = 20;

const fn group(of: SettingType, names: &'static str) -> SettingGroup {
    SettingGroup { of, names }
}

/// Source: PostgreSQL's manual, chapter "Server Configuration", versions 8.3 to 18.
const POSTGRESQL: &[SettingGroup] = &[
    group(
        SIZE,
        "shared_buffers temp_buffers work_mem maintenance_work_mem autovacuum_work_mem logical_decoding_work_mem \
         max_stack_depth vacuum_buffer_usage_limit huge_page_size min_dynamic_shared_memory temp_file_limit \
         bgwriter_flush_after backend_flush_after io_combine_limit io_max_combine_limit wal_buffers \
         wal_writer_flush_after wal_skip_threshold checkpoint_flush_after max_wal_size min_wal_size wal_keep_size \
         wal_decode_buffer_size effective_cache_size min_parallel_table_scan_size min_parallel_index_scan_size \
         track_activity_query_size log_temp_files",
    ),
    group(
        TIME,
        "vacuum_cost_delay bgwriter_delay wal_writer_delay checkpoint_timeout checkpoint_warning deadlock_timeout \
         statement_timeout lock_timeout idle_in_transaction_session_timeout autovacuum_naptime \
         autovacuum_vacuum_cost_delay log_autovacuum_min_duration old_snapshot_threshold",
    ),
    group(
        SettingType::Truth,
        "fsync full_page_writes wal_log_hints wal_init_zero wal_recycle autovacuum jit jit_expressions \
         jit_tuple_deforming parallel_leader_participation track_activities track_counts track_io_timing \
         track_wal_io_timing track_cost_delay_timing update_process_title log_checkpoints log_lock_waits geqo \
         synchronize_seqscans restart_after_crash data_sync_retry vacuum_truncate enable_async_append \
         enable_bitmapscan enable_gathermerge enable_group_by_reordering enable_hashagg enable_hashjoin \
         enable_incremental_sort enable_indexscan enable_indexonlyscan enable_material enable_memoize enable_mergejoin \
         enable_nestloop enable_parallel_append enable_parallel_hash enable_partition_pruning \
         enable_partitionwise_aggregate enable_partitionwise_join enable_presorted_aggregate enable_seqscan enable_sort \
         enable_tidscan",
    ),
    group(
        SettingType::Number,
        "max_connections superuser_reserved_connections max_prepared_transactions max_locks_per_transaction \
         max_pred_locks_per_transaction max_files_per_process max_worker_processes max_parallel_workers \
         max_parallel_workers_per_gather max_parallel_maintenance_workers hash_mem_multiplier vacuum_cost_page_hit \
         vacuum_cost_page_miss vacuum_cost_page_dirty vacuum_cost_limit vacuum_freeze_min_age vacuum_freeze_table_age \
         vacuum_multixact_freeze_min_age vacuum_multixact_freeze_table_age bgwriter_lru_maxpages \
         bgwriter_lru_multiplier effective_io_concurrency maintenance_io_concurrency io_max_concurrency io_workers \
         commit_delay commit_siblings checkpoint_segments checkpoint_completion_target max_wal_senders \
         max_replication_slots wal_keep_segments seq_page_cost random_page_cost cpu_tuple_cost cpu_index_tuple_cost \
         cpu_operator_cost parallel_setup_cost parallel_tuple_cost jit_above_cost jit_inline_above_cost \
         jit_optimize_above_cost default_statistics_target cursor_tuple_fraction from_collapse_limit join_collapse_limit \
         geqo_threshold autovacuum_max_workers autovacuum_worker_slots autovacuum_vacuum_threshold \
         autovacuum_vacuum_max_threshold autovacuum_vacuum_insert_threshold autovacuum_analyze_threshold \
         autovacuum_vacuum_scale_factor autovacuum_vacuum_insert_scale_factor autovacuum_analyze_scale_factor \
         autovacuum_freeze_max_age autovacuum_multixact_freeze_max_age autovacuum_vacuum_cost_limit",
    ),
    group(SettingType::Word(&["try"]), "huge_pages recovery_prefetch"),
    group(SettingType::Word(&["local", "remote_write", "remote_apply"]), "synchronous_commit"),
    group(SettingType::Word(&["pglz", "lz4", "zstd"]), "wal_compression"),
    group(SettingType::Only(&["pglz", "lz4"]), "default_toast_compression"),
    group(SettingType::Only(&["minimal", "replica", "logical", "archive", "hot_standby"]), "wal_level"),
    group(
        SettingType::Only(&["open_datasync", "fdatasync", "fsync", "fsync_writethrough", "open_sync"]),
        "wal_sync_method",
    ),
    group(SettingType::Only(&["sync", "worker", "io_uring"]), "io_method"),
    group(SettingType::Only(&["none", "pl", "all"]), "track_functions"),
    group(SettingType::Only(&["auto", "force_generic_plan", "force_custom_plan"]), "plan_cache_mode"),
    group(SettingType::Word(&["partition"]), "constraint_exclusion"),
    group(SettingType::Word(&["auto", "regress"]), "compute_query_id"),
    group(
        SettingType::Only(&["serializable", "repeatable read", "read committed", "read uncommitted"]),
        "default_transaction_isolation",
    ),
];

/// Source: SQLite's manual, "PRAGMA Statements". The journal and how it is synchronised have keys of their own.
const SQLITE: &[SettingGroup] = &[
    group(
        SettingType::Number,
        "analysis_limit busy_timeout cache_size cache_spill journal_size_limit max_page_count mmap_size \
         page_size threads wal_autocheckpoint",
    ),
    group(
        SettingType::Truth,
        "automatic_index cell_size_check checkpoint_fullfsync foreign_keys fullfsync read_uncommitted",
    ),
    group(SettingType::Only(&["none", "full", "incremental", "0", "1", "2"]), "auto_vacuum"),
    group(SettingType::Only(&["normal", "exclusive"]), "locking_mode"),
    group(SettingType::Only(&["default", "file", "memory", "0", "1", "2"]), "temp_store"),
    group(SettingType::Word(&["fast"]), "secure_delete"),
];

/// Settings that a plan gave, each in the table of its database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSettings {
    given: Vec<(&'static str, String)>,
}

impl DatabaseSettings {
    /// Reads lines of `postgresql.conf`, or of SQLite's PRAGMAs without that word, apart by lines or semicolons.
    ///
    /// # Errors
    /// With the first that is not permitted.
    pub fn postgresql(text: &str) -> Result<Self, Refused> {
        Self::parse(POSTGRESQL, "PostgreSQL", text)
    }

    /// The same of SQLite.
    ///
    /// # Errors
    /// As there.
    pub fn sqlite(text: &str) -> Result<Self, Refused> {
        Self::parse(SQLITE, "SQLite", text)
    }

    /// The settings that a plan may give, those of SQLite behind those of PostgreSQL.
    pub fn permitted() -> Vec<&'static str> {
        POSTGRESQL.iter().chain(SQLITE).flat_map(|group| group.names.split(' ')).collect()
    }

    /// The same of either.
    pub(super) fn of(engine: DatabaseEngine, text: &str) -> Result<Self, Refused> {
        if engine == DatabaseEngine::PostgreSql { Self::postgresql(text) } else { Self::sqlite(text) }
    }

    fn parse(groups: &'static [SettingGroup], of: &str, text: &str) -> Result<Self, Refused> {
        let mut given = Vec::new();
        let mut at = 0;
        for part in text.split(['\n', ';']) {
            let line = part.trim();
            let place = at + part.len() - part.trim_start().len();
            at += part.len() + 1;
            if !line.is_empty() {
                given.push(setting(groups, of, line, place)?);
            }
        }
        Ok(Self { given })
    }

    /// Each as a line of `postgresql.conf`, or as SQLite has it behind PRAGMA.
    pub fn lines(&self) -> Vec<String> {
        let quoted = |value: &str| match value.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.-".contains(&c)) {
            true => value.to_owned(),
            false => format!("'{value}'"),
        };
        self.given.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect()
    }
}

/// Reads one line.
fn setting(
    groups: &'static [SettingGroup],
    of: &str,
    line: &str,
    at: usize,
) -> Result<(&'static str, String), Refused> {
    let end = line.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let named = |group: &'static SettingGroup| group.names.split(' ').map(move |known| (known, group.of));
    let known = || groups.iter().flat_map(named);
    let Some((name, kind)) = known().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
        let names: Vec<&str> = known().map(|(name, _)| name).collect();
        return Err(not_permitted(&format!("{of} the setting"), name, &names, at, name));
    };
    let value = rest.trim_start();
    let value = value.strip_prefix('=').unwrap_or(value).trim();
    let place = at + line.len() - value.len();
    let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value).trim();
    match read(kind, bare) {
        Some(value) => Ok((name, value)),
        None => Err(wrong(
            format!("`{}` is not a value of {name}", shown(value)),
            format!("give {}", wanted(kind)),
            place,
            value,
        )),
    }
}

/// The value in one way of writing it; none if it is none.
fn read(kind: SettingType, text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let is_truth = TRUTH.contains(&lower.as_str());
    match kind {
        SettingType::Truth => is_truth.then_some(lower),
        SettingType::Word(words) => (is_truth || words.contains(&lower.as_str())).then_some(lower),
        SettingType::Only(words) => words.contains(&lower.as_str()).then_some(lower),
        SettingType::Number => is_number(text).then(|| text.to_owned()),
        SettingType::Amount(units) => {
            let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
            let (number, unit) = (text[..end].trim_end(), &text[end..]);
            (is_number(number) && (unit.is_empty() || units.contains(&unit))).then(|| format!("{number}{unit}"))
        }
    }
}

fn is_number(text: &str) -> bool {
    let plain = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = plain.split_once('.').unwrap_or((plain, "0"));
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    text.len() <= DIGITS && is_whole(whole) && is_whole(part)
}

/// What would be right.
fn wanted(kind: SettingType) -> String {
    match kind {
        SettingType::Truth => "on or off".to_owned(),
        SettingType::Number => "a number".to_owned(),
        SettingType::Amount(units) => format!("a number, with one of the units {}", units.join(", ")),
        SettingType::Word(words) => format!("on, off, {}", words.join(", ")),
        SettingType::Only(words) => format!("one of {}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        DatabaseSettings::postgresql(text).unwrap_or_else(|refused| panic!("{text}: {refused}")).lines()
    }

    #[test]
    fn settings_are_lines_or_apart_by_semicolons() {
        let found = lines("fsync = on; work_mem = '1MB'\nwal_level = minimal\n\nsynchronous_commit off");
        assert_eq!(found, ["fsync = on", "work_mem = 1MB", "wal_level = minimal", "synchronous_commit = off"]);
    }

    #[test]
    fn every_type_is_read_and_written_in_one_way() {
        let table = [
            ("Shared_Buffers='512 MB'", "shared_buffers = 512MB"),
            ("max_wal_size=4GB", "max_wal_size = 4GB"),
            ("wal_buffers = -1", "wal_buffers = -1"),
            ("checkpoint_timeout = 15min", "checkpoint_timeout = 15min"),
            ("checkpoint_completion_target = 0.9", "checkpoint_completion_target = 0.9"),
            ("io_method = 'io_uring'", "io_method = io_uring"),
            ("wal_compression = ZSTD", "wal_compression = zstd"),
            ("huge_pages = try", "huge_pages = try"),
            ("default_transaction_isolation = 'repeatable read'", "default_transaction_isolation = 'repeatable read'"),
        ];
        for (text, line) in table {
            assert_eq!(lines(text), [line]);
        }
        let sqlite = DatabaseSettings::sqlite("page_size = 8192; cache_size=-65536\ntemp_store memory").unwrap();
        assert_eq!(sqlite.lines(), ["page_size = 8192", "cache_size = -65536", "temp_store = memory"]);
    }

    #[test]
    fn what_names_a_command_a_library_a_file_or_an_address_is_refused() {
        let names = [
            "archive_command",
            "archive_library",
            "archive_cleanup_command",
            "restore_command",
            "recovery_end_command",
            "ssl_passphrase_command",
            "ssl_cert_file",
            "shared_preload_libraries",
            "session_preload_libraries",
            "local_preload_libraries",
            "dynamic_library_path",
            "jit_provider",
            "log_directory",
            "log_filename",
            "logging_collector",
            "external_pid_file",
            "data_directory",
            "config_file",
            "hba_file",
            "ident_file",
            "listen_addresses",
            "port",
            "unix_socket_directories",
            "unix_socket_permissions",
            "temp_tablespaces",
            "stats_temp_directory",
            "primary_conninfo",
            "include",
            "include_dir",
            "include_if_exists",
            "search_path",
            "local_preload_libraries",
        ];
        for name in names {
            for value in ["= 'touch /tmp/x'", " /tmp/x", "=1", ""] {
                let text = format!("fsync = on\n{name}{value}");
                let refused = DatabaseSettings::postgresql(&text).expect_err(&text);
                assert_eq!(&text[refused.at.clone()], name, "{refused}");
            }
        }
        for text in
            ["temp_store_directory = '/tmp'", "data_store_directory='/x'", "journal_mode = off", "main.page_size=1"]
        {
            DatabaseSettings::sqlite(text).expect_err(text);
        }
    }

    #[test]
    fn a_value_cannot_become_another_line() {
        let table = [
            "work_mem = '1MB' \r archive_command = 'x'",
            "work_mem = 1MB\rx",
            "work_mem = 1MB # more",
            "work_mem = '1MB''x'",
            "work_mem = '1MB\\'",
            "fsync = on'",
            "fsync = 'on' 'off'",
            "synchronous_commit = $(touch x)",
            "random_page_cost = 1e400",
            "random_page_cost = --1",
            "random_page_cost = 1.-2",
            "checkpoint_timeout = 5 fortnights",
            "shared_buffers = ",
            "shared_buffers = /dev/sda",
        ];
        for text in table {
            let refused = DatabaseSettings::postgresql(text).expect_err(text);
            assert!(refused.help.starts_with("give "), "{refused}");
        }
    }
}
