//! The crate's public promise, in one program.

mod attach;
mod attach_faults;
mod attach_image;
#[cfg(feature = "vhost-user")]
mod attach_machine;
mod attach_nbd;
mod attach_power;
mod attach_sockets;
#[cfg(feature = "ublk")]
mod attach_ublk;
mod compare;
mod compare_trials;
mod configuration;
mod docs;
mod exports;
mod faults;
mod fio_corpus;
mod fio_differential;
mod fio_line;
mod fio_logs;
mod fio_plot;
mod first_steps;
mod forecast;
mod gate;
mod health;
mod house;
mod import;
mod killed;
mod live;
mod metrics;
mod package;
mod plans;
mod power;
mod purge;
mod replicate;
mod review;
mod run;
mod safety;
mod serve;
mod serve_browser;
mod serve_many;
mod shells;
mod stored;
mod support;
mod traces;
mod transcripts;
