//! The crate's public promise, in one program.

mod apart;
mod calibrate;
mod calibrate_family;
mod coverage;
mod fio_examples;
mod fio_fuzz;
mod jobs;
mod level;
mod load;
mod mutated;
mod parts;
mod permitted;
mod plan_mistakes;
mod plans;
mod power;
mod precondition;
mod real;
mod repeats;
mod replicate;
mod rounds;
mod support;
mod sustained;
mod time_left;
mod trace_formats;
mod trials;
mod watched;
