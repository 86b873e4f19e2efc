use assay_attach::*;
use drive::Drive;
use drive::preset::Preset;
fn main() {
    let mut a = std::env::args().skip(1);
    let (name, data, mount) = (a.next().unwrap(), a.next().unwrap(), a.next().unwrap());
    let floor = block::Nanos::from_micros(a.next().map_or(0, |t| t.parse().unwrap()));
    let mut drive = Preset::find(&name).unwrap().build();
    // fill
    let cap = drive.shape().capacity;
    let mut lba = 0;
    while lba < cap.get() / 512 {
        let n = 2048.min(cap.get() / 512 - lba) as u32;
        drive.submit(drive.now(), block::Tag(0), block::Request::new(block::Op::Write, block::Lba::new(lba), n));
        drive.complete(block::Nanos::MAX);
        lba += u64::from(n);
    }
    let at = drive.now() + block::Nanos::from_secs(10);
    drive.submit(at, block::Tag(0), block::Request::FLUSH);
    drive.complete(block::Nanos::MAX);
    let content = Content::open(std::path::Path::new(&data), cap).unwrap();
    std::fs::File::create(&mount).unwrap();
    let channel = fuse::Channel::mount(std::path::Path::new(&mount)).unwrap();
    let paced = Paced::new(drive, 1.0, Floor { read: floor, write: floor }, now());
    let mut server = fuse::Server::new(channel, content, paced, false);
    println!("ready");
    let stop = std::sync::atomic::AtomicBool::new(false);
    server.serve(&stop).unwrap();
    let late = server.paced.late();
    println!("served {} late median {} 99 % {}", late.count(), late.percentile(50.0), late.percentile(99.0));
}
