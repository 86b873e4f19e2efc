//! libCacheSim's binary traces: lcs, whose header says which fields its records have.
//! Source: libCacheSim, libCacheSim/traceReader/generalReader/lcs.h and lcs.c at aa0fc40914b2.

use block::{Nanos, Op};

use super::decode::{Decode, Format, Input, TraceLine, TraceMistake, Volumes, came, hexadecimal, little, sectors};
use super::error::TraceError;

pub(super) const FORMAT: Format = Format {
    title: "libCacheSim lcs",
    origin: "[libCacheSim](https://github.com/1a1a11a/libCacheSim)",
    records: "time in s, object, bytes, as its header says; an object is a sector, and every request a read",
    fits: |head| head.bytes.len() >= 8 && little::<8>(&head.bytes, 0) == MAGIC,
    open: || Box::new(Objects { layout: None, record: Vec::new() }),
};

const MAGIC: u64 = 0x1234_5678_9abc_def0;

/// Where in a record an integer lies: its first byte and how many.
type Place = (usize, usize);

struct Objects {
    /// Time, object and size.
    layout: Option<[Place; 3]>,
    record: Vec<u8>,
}

impl Decode for Objects {
    fn next(&mut self, input: &mut Input, volumes: &mut Volumes) -> Result<Option<TraceLine>, TraceError> {
        let Some(layout) = self.layout else {
            let Some(header) = input.record::<1024>()? else { return Ok(None) };
            let (layout, size) = layout(&header).map_err(|wrong| wrong.at(input.place(), &hexadecimal(&header)))?;
            (self.layout, self.record) = (Some(layout), vec![0; size]);
            return Ok(Some(TraceLine::Heading));
        };
        if !input.fill(&mut self.record)? {
            return Ok(None);
        }
        let number = |(at, size): Place| match size {
            1 => little::<1>(&self.record, at),
            2 => little::<2>(&self.record, at),
            4 => little::<4>(&self.record, at),
            _ => little::<8>(&self.record, at),
        };
        let [at, object, size] = layout.map(number);
        let said = match at {
            0..=4_294_967_295 => volumes
                .number("objects")
                .and_then(|volume| came(Nanos::from_secs(at), (Op::Read, sectors(object), size), None, volume)),
            _ => Err(TraceMistake::NotA("a request with a time in seconds")),
        };
        said.map(Some).map_err(|wrong| wrong.at(input.place(), &hexadecimal(&self.record)))
    }
}

/// Where time, object and size lie, and the size of a record.
fn layout(header: &[u8; 1024]) -> Result<([Place; 3], usize), TraceMistake> {
    let wrong = |what| Err(TraceMistake::NotA(what));
    let format: Vec<u8> = header[8..248].iter().copied().take_while(|byte| *byte != 0).collect();
    let Some((b'<', types)) = format.split_first() else {
        return wrong("a header of lcs whose format begins with `<`");
    };
    let (mut places, mut end) = (Vec::new(), 0);
    for kind in types {
        let size = match kind {
            b'c' | b'b' | b'B' => 1,
            b'h' | b'H' => 2,
            b'i' | b'I' | b'f' => 4,
            b'q' | b'Q' | b'd' => 8,
            _ => return wrong("a header of lcs; a field of its format is none of Python's `cbBhHiIqQfd`"),
        };
        places.push((end, size, matches!(kind, b'f' | b'd')));
        end += size;
    }
    if little::<8>(header, 1016) != MAGIC || little::<4>(header, 1004) != end as u64 {
        return wrong("a header of lcs whose length of a record is that of its format");
    }
    // Object, size and time, counted from one.
    let field = |at: usize| usize::from(header[at]).checked_sub(1).and_then(|field| places.get(field).copied());
    match [field(250), field(248), field(249)] {
        [Some((at, time, false)), Some((object, long, false)), Some((size, count, false))] => {
            Ok(([(at, time), (object, long), (size, count)], end))
        }
        _ => wrong("a header of lcs with fields of integers for time, object and size"),
    }
}
