//! fio's I/O engines, and what becomes of a job that names one.

use super::table::{FioOptionSpec, Treatment};

/// What becomes of a job with an I/O engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// Requests go to the kernel as here; the words say in what way.
    Same(&'static str),
    /// Requests can be made, but otherwise, and this follows.
    Other(&'static str),
    /// What it does is no reading or writing of a drive: this is what it does.
    Foreign(&'static str),
}

/// An I/O engine.
pub(super) struct Named {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether it waits for each request before it makes the next, whatever `iodepth` says.
    pub(super) one_at_a_time: bool,
    /// What becomes of a job with it.
    pub(super) engine: Engine,
}

use Engine::{Foreign, Other, Same};

const fn deep(name: &'static str, engine: Engine) -> Named {
    Named { name, one_at_a_time: false, engine }
}

const fn single(name: &'static str, engine: Engine) -> Named {
    Named { name, one_at_a_time: true, engine }
}

const QUEUED: Engine = Same("requests go through io_uring, at the same queue depth");
const WAITING: Engine = Same("requests go through io_uring, at queue depth 1");
const PASS: Engine = Other(
    "requests use the kernel's block layer, which this engine bypasses: name the block device \
    itself",
);
pub(super) const COMMANDS: Engine =
    Same("requests are NVMe commands through io_uring, to a character device such as /dev/ng0n1");
const NOTHING: Engine = Other("fio transfers no data with it; here requests go to the target");
const MEMORY: Engine = Foreign("it accesses mapped memory and submits no requests");
const NETWORK: Engine = Foreign("it reads and writes over a network, which assay does not measure");
const FILES: Engine = Foreign("it measures metadata operations, not reads and writes");
const ELSE: Engine = Foreign("it does something other than reading and writing");

/// The engines of fio 3.33, those included that are built only where their library is.
pub(super) const ENGINES: &[Named] = &[
    deep("libaio", QUEUED),
    deep("io_uring", QUEUED),
    deep("posixaio", QUEUED),
    deep("windowsaio", QUEUED),
    deep("solarisaio", QUEUED),
    deep("guasi", QUEUED),
    single("psync", WAITING),
    single("sync", WAITING),
    single("vsync", WAITING),
    single("pvsync", WAITING),
    single("pvsync2", WAITING),
    single("mmap", Other("nothing is mapped: each request is a read or a write")),
    single("splice", Other("data is read and written, not spliced")),
    deep("sg", PASS),
    deep("io_uring_cmd", COMMANDS),
    deep("xnvme", PASS),
    deep("libblkio", PASS),
    single("libzbc", PASS),
    deep("null", NOTHING),
    deep("cpp_null", NOTHING),
    deep("external", Foreign("it is a program of its own, which assay cannot run")),
    deep("libpmem", MEMORY),
    deep("dev-dax", MEMORY),
    deep("pmemblk", MEMORY),
    deep("libcufile", Foreign("it moves data to and from a graphics processor")),
    deep("net", NETWORK),
    deep("netsplice", NETWORK),
    deep("rdma", NETWORK),
    deep("librpma_apm_client", NETWORK),
    deep("librpma_apm_server", NETWORK),
    deep("librpma_gpspm_client", NETWORK),
    deep("librpma_gpspm_server", NETWORK),
    deep("http", NETWORK),
    deep("rados", NETWORK),
    deep("rbd", NETWORK),
    deep("gfapi", NETWORK),
    deep("gfapi_async", NETWORK),
    deep("glusterfs", NETWORK),
    deep("glusterfs_async", NETWORK),
    deep("libhdfs", NETWORK),
    deep("libiscsi", NETWORK),
    deep("nbd", NETWORK),
    deep("nfs", NETWORK),
    deep("dfs", NETWORK),
    deep("ime_psync", NETWORK),
    deep("ime_psyncv", NETWORK),
    deep("ime_aio", NETWORK),
    deep("filecreate", FILES),
    deep("filestat", FILES),
    deep("filedelete", FILES),
    deep("ftruncate", FILES),
    deep("falloc", FILES),
    deep("e4defrag", FILES),
    deep("mtd", Foreign("it drives raw flash, which is no block device")),
    deep("cpuio", ELSE),
    deep("exec", ELSE),
    deep("binject", ELSE),
];

/// The engine of this name.
pub(super) fn named(name: &str) -> Option<&'static Named> {
    ENGINES.iter().find(|engine| engine.name == name)
}

/// An option of engines that assay does not stand in for.
const fn foreign(name: &'static str) -> FioOptionSpec {
    FioOptionSpec { name, aliases: &[], treatment: Treatment::With("ioengine") }
}

const fn ring(name: &'static str) -> FioOptionSpec {
    let why = "assay sets its own ring up, with what the kernel has";
    FioOptionSpec { name, aliases: &[], treatment: Treatment::Natural(why) }
}

const fn lost(name: &'static str, follows: &'static str) -> FioOptionSpec {
    FioOptionSpec { name, aliases: &[], treatment: Treatment::Lost(&["0"], follows) }
}

/// The options of single engines.
pub(super) const OPTIONS: &[FioOptionSpec] = &[
    ring("fixedbufs"),
    ring("registerfiles"),
    ring("nonvectored"),
    ring("sqthread_poll"),
    ring("sqthread_poll_cpu"),
    ring("force_async"),
    lost("hipri", "completions are interrupt-driven, not polled"),
    lost("hipri_percentage", "completions are interrupt-driven, not polled"),
    lost("uncached", "pages stay in the page cache"),
    lost("nowait", "a request that would block waits"),
    lost("readfua", "reads may come from the drive's cache"),
    lost("writefua", "writes may stay in the drive's cache; `sync=dsync` asks for durable ones"),
    lost("sg_write_mode", "plain writes are made"),
    lost("stream_id", "writes carry no stream"),
    lost("thp", "buffers have pages of the usual size"),
    FioOptionSpec {
        name: "cmd_type",
        aliases: &[],
        treatment: Treatment::Lost(&["nvme"], "commands are those of NVMe"),
    },
    foreign("cpuload"),
    foreign("cpuchunks"),
    foreign("cpumode"),
    foreign("exit_on_io_done"),
    foreign("hostname"),
    foreign("port"),
    foreign("protocol"),
    foreign("nodelay"),
    foreign("listen"),
    foreign("pingpong"),
    foreign("interface"),
    foreign("ttl"),
    foreign("window_size"),
    foreign("mss"),
    foreign("stat_type"),
    foreign("program"),
    foreign("arguments"),
    foreign("grace_time"),
    foreign("std_redirect"),
    foreign("donorname"),
    foreign("inplace"),
    foreign("volume"),
    foreign("brick"),
    foreign("single-instance"),
    foreign("skip_bad"),
    foreign("uri"),
    foreign("bindname"),
    foreign("verb"),
    foreign("clustername"),
    foreign("rbdname"),
    foreign("pool"),
    foreign("clientname"),
    foreign("conf"),
    foreign("busy_poll"),
    foreign("touch_objects"),
    foreign("cont"),
    foreign("chunk_size"),
    foreign("object_class"),
    foreign("svcl"),
    foreign("serverip"),
    foreign("direct_write_to_pmem"),
    foreign("busy_wait_polling"),
    foreign("gpu_dev_id"),
    foreign("gpu_dev_ids"),
    foreign("cuda_io"),
    foreign("nfs_url"),
    foreign("http_verbose"),
    foreign("https"),
    foreign("http_mode"),
    foreign("http_host"),
    foreign("http_user"),
    foreign("http_pass"),
    foreign("http_s3_key"),
    foreign("http_s3_keyid"),
    foreign("http_s3_region"),
    foreign("http_s3_sse_customer_key"),
    foreign("http_s3_sse_customer_algorithm"),
    foreign("http_s3_storage_class"),
    foreign("http_swift_auth_token"),
    foreign("namenode"),
    foreign("initiator"),
    foreign("xnvme_be"),
    foreign("xnvme_async"),
    foreign("xnvme_sync"),
    foreign("xnvme_admin"),
    foreign("xnvme_dev_nsid"),
    foreign("xnvme_iovec"),
    foreign("libblkio_driver"),
    foreign("libblkio_path"),
    foreign("libblkio_pre_connect_props"),
    foreign("libblkio_pre_start_props"),
];
