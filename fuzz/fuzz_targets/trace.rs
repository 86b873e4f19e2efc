//! A file is a trace in one of the known formats or is refused; what is read can be written as fio's log and read again.

#![no_main]

use block::{Nanos, Request};
use libfuzzer_sys::fuzz_target;
use workload::{Trace, TraceError, TraceReader, to_iolog};

fn read(file: &[u8]) -> Result<Trace, TraceError> {
    TraceReader::default().read(vec![Box::new(file)]).map(|(trace, _)| trace)
}

fuzz_target!(|file: &[u8]| {
    match read(file) {
        Err(error) => assert!(error.to_string().len() < 1024),
        Ok(trace) => {
            assert!(trace.count() <= file.len() as u64);
            assert!(trace.longest() <= trace.end());
            let requests: Vec<(Nanos, Request)> = trace.requests().map(|each| (each.at, each.request)).collect();
            let again = read(to_iolog("target", &requests).as_bytes()).expect("what was read is a trace");
            assert!(again.requests().map(|each| each.request).eq(requests.iter().map(|each| each.1)));
        }
    }
});
