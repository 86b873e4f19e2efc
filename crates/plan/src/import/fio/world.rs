//! What a job file asks of the world around it.

use std::path::Path;

use block::Bytes;

/// What a job file asks of the world around it: files that it includes, variables, and the machine.
pub trait World {
    /// The text of an included file, which lies where a job file may name others.
    ///
    /// # Errors
    /// Says why there is none.
    fn file(&self, path: &Path) -> Result<String, String>;

    /// A variable that the command line gives \[`${NAME}`\]. The environment is not a job file's to read.
    fn variable(&self, name: &str) -> Option<String>;

    /// The size of a page of memory, in bytes \[`$pagesize`\].
    fn page_size(&self) -> u64;

    /// The memory, in MiB \[`$mb_memory`\].
    fn memory_mib(&self) -> u64;

    /// How many processors are online \[`$ncpus`\].
    fn processors(&self) -> u64;

    /// How long a job's own file is, where that can be told; `is_typed` says that the command line names it.
    fn capacity(&self, target: &str, is_typed: bool) -> Option<Bytes>;

    /// How long its zones are, where it has any and that can be told \[`offset=3z`\].
    fn zone(&self, target: &str, is_typed: bool) -> Option<Bytes>;
}
