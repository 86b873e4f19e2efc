//! The crate's public promise, in one program.

mod behaviour;
mod construct;
mod disk;
mod disk_mechanisms;
mod disk_published;
mod dram;
mod errors;
mod flash;
mod hybrid;
mod kinds;
mod modern;
mod pcm;
mod power;
mod power_cut;
mod power_cut_all;
mod published;
mod ratings;
mod rig;
mod saved;
mod servers;
mod siblings;
mod specimen;
mod support;
mod wear;
mod zones;
