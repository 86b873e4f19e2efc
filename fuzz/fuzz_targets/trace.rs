//! A text is a trace in one of the known formats or is refused; what is read can be written as fio's log and read again.

#![no_main]

use block::{Nanos, Request};
use libfuzzer_sys::fuzz_target;
use workload::{Trace, TraceError, TraceReader, to_iolog};

fn read(text: &str) -> Result<Trace, TraceError> {
    TraceReader::default().text(text).map(|(trace, _)| trace)
}

fuzz_target!(|text: &str| {
    match read(text) {
        Err(error) => assert!(error.to_string().len() < 1024),
        Ok(trace) => {
            assert!(trace.count() <= text.lines().count() as u64);
            assert!(trace.longest() <= trace.end());
            let requests: Vec<(Nanos, Request)> = trace.requests().map(|each| (each.at, each.request)).collect();
            let again = read(&to_iolog("target", &requests)).expect("what was read is a trace");
            assert!(again.requests().map(|each| each.request).eq(requests.iter().map(|each| each.1)));
        }
    }
});
