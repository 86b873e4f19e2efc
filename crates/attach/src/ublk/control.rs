//! Commands about whole devices.

use std::fs::File;
use std::io;
use std::path::Path;

use drive::Shape;
use host::open;
use rustix::fs::OFlags;

use super::abi::{INFO, Info, UblkCommand, parameters};
use super::kernel::UblkRing;

/// Where the driver takes them.
const CONTROL: &str = "/dev/ublk-control";

pub struct UblkDriver(File);

impl UblkDriver {
    /// The driver of this machine.
    ///
    /// # Errors
    /// If it is not there, or not for this user.
    pub fn open() -> io::Result<Self> {
        open::character_device(Path::new(CONTROL), OFlags::empty()).map(Self)
    }

    /// Makes a new device for a drive of this shape, which has no disk yet.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn add(&self, shape: Shape) -> io::Result<Info> {
        self.told(UblkCommand::ADD, u32::MAX, Info::wanted(shape).to_vec())
    }

    /// What is to be known of a device.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn info(&self, number: u32) -> io::Result<Info> {
        self.told(UblkCommand::INFO, number, vec![0; INFO])
    }

    /// Says how the disk of a device is to look.
    ///
    /// # Errors
    /// If there is no such disk.
    pub fn set(&self, number: u32, shape: Shape, turns: bool) -> io::Result<()> {
        UblkRing::control(&self.0, UblkCommand::SET, number, 0, parameters(shape, turns).to_vec()).map(drop)
    }

    /// Makes the disk, and waits until its server has answered what the kernel asks of a new one.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn start(&self, number: u32) -> io::Result<()> {
        UblkRing::control(&self.0, UblkCommand::START, number, std::process::id().into(), Vec::new()).map(drop)
    }

    /// Takes the disk away: what is not answered yet is waited for, if there is a server.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn stop(&self, number: u32) -> io::Result<()> {
        UblkRing::control(&self.0, UblkCommand::STOP, number, 0, Vec::new()).map(drop)
    }

    /// Takes the device away, and its disk. Its number becomes free with the last who has it open, who is not waited for
    /// where the kernel can do without.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn delete(&self, number: u32) -> io::Result<()> {
        let delete = |op| UblkRing::control(&self.0, op, number, 0, Vec::new()).map(drop);
        match delete(UblkCommand::DELETE_LATER) {
            // Before Linux 6.7 it is not known.
            Err(error) if error.kind() != io::ErrorKind::NotFound => delete(UblkCommand::DELETE),
            done => done,
        }
    }

    fn told(&self, op: UblkCommand, number: u32, memory: Vec<u8>) -> io::Result<Info> {
        let memory = UblkRing::control(&self.0, op, number, 0, memory)?;
        Ok(Info::read(memory.first_chunk().expect("it is as long as it was")))
    }
}
