//! The memory of requests in flight: lent to the kernel, and touched only while it is not.
#![allow(unsafe_code)]

use block::{Bytes, Request, Tag};
use workload::{Damage, Stamp};

use crate::content::{Content, ContentMark, Fresh, Page};

/// Buffers are aligned to this, which is at least what any O_DIRECT asks of memory.
pub(crate) const PAGE: Bytes = Bytes::from_kib(4);
/// From so much memory on, huge pages are asked for: fewer entries of the processor's and the device's tables.
const HUGE_FROM: usize = 4 << 20;

/// One block a tag with what belongs in it.
pub(crate) struct Buffers {
    pub memory: RegisteredMemory,
    /// What is new in every write: none where all that is written is zeroes.
    fresh: Option<Fresh>,
    /// By what written blocks are known again.
    stamp: Option<Stamp>,
}

/// Memory of one block a tag, each starting a page of its own.
pub(crate) struct RegisteredMemory {
    /// Owns the memory; after `new` it is reached by `first` alone.
    pages: Vec<Page>,
    first: *mut Page,
    /// Pages a tag.
    each: usize,
    /// Which tags' buffers the kernel may read or write.
    lent: Vec<bool>,
}

/// The buffer of a tag that no request in flight uses: the only way to its bytes.
struct Idle<'m> {
    pages: &'m mut [Page],
}

// SAFETY: the pointer is into memory that the struct itself owns, and nothing else reaches it.
unsafe impl Send for RegisteredMemory {}

impl Buffers {
    /// Buffers for `depth` tags, filled with what follows from `content`; none if there is not enough memory.
    pub fn new(depth: u32, block: Bytes, content: Option<Content>) -> Option<Self> {
        let each = block.round_up(PAGE).div(PAGE) as usize;
        let count = each.checked_mul(depth as usize)?;
        let mut pages = Vec::new();
        pages.try_reserve_exact(count).ok()?;
        ask_for_huge_pages(&mut pages);
        pages.resize(count, Page::ZERO);
        if let Some(content) = content {
            pages.iter_mut().zip((0..).step_by(512)).for_each(|(page, first)| content.fill(page, first));
        }
        let (fresh, stamp) = (content.and_then(Fresh::new), content.and_then(|content| content.stamp));
        let lent = vec![false; depth as usize];
        Some(Self { memory: RegisteredMemory { first: pages.as_mut_ptr(), pages, each, lent }, fresh, stamp })
    }

    /// The first `length` of the only buffer that there is.
    pub fn bytes(&mut self, length: Bytes) -> &mut [u8] {
        self.memory.idle(Tag(0)).bytes(length)
    }

    /// Puts this into the beginning of a buffer.
    pub fn put(&mut self, tag: Tag, bytes: &[u8]) {
        self.memory.idle(tag).bytes(Bytes::new(bytes.len() as u64)).copy_from_slice(bytes);
    }

    /// Makes the data of a write new, and known again by its mark.
    pub fn refresh(&mut self, tag: Tag, request: Request, mark: ContentMark) {
        if let Some(fresh) = &mut self.fresh {
            let used = request.bytes().round_up(PAGE).div(PAGE) as usize;
            fresh.renew(&mut self.memory.idle(tag).pages[..used]);
        }
        if let (Some(stamp), ContentMark::Write(generation)) = (self.stamp, mark) {
            stamp.seal(self.memory.idle(tag).bytes(request.bytes()), request.lba.offset(), generation.into());
        }
    }

    /// What is wrong with the data that a read brought.
    pub fn damage(&mut self, tag: Tag, request: Request, mark: ContentMark) -> Option<Damage> {
        let (stamp, at) = (self.stamp?, request.lba.offset());
        let block = self.memory.idle(tag).bytes(request.bytes());
        match mark {
            ContentMark::None => None,
            ContentMark::Write(generation) => stamp.check(block, at, generation.into()).err(),
            ContentMark::Latest => stamp.check_latest(block, at).err(),
        }
    }
}

/// Has the kernel use huge pages for memory that nothing has been written to yet, where it has any.
fn ask_for_huge_pages(pages: &mut Vec<Page>) {
    let room = pages.spare_capacity_mut();
    if size_of_val(room) >= HUGE_FROM {
        // SAFETY: the memory belongs to the vector, and the advice changes none of its bytes. A page is as long as the
        // smallest of the kernel's and begins where one does.
        unsafe { libc::madvise(room.as_mut_ptr().cast(), size_of_val(room), libc::MADV_HUGEPAGE) };
    }
}

impl RegisteredMemory {
    /// Gives it up to whoever may still use it.
    pub fn leak(&mut self) {
        std::mem::forget(std::mem::take(&mut self.pages));
    }

    /// Where the buffer of `tag` begins.
    pub fn at(&self, tag: Tag) -> *mut u8 {
        self.first.wrapping_add(tag.0 as usize * self.each).cast()
    }

    pub fn slices(&self, depth: u32, block: Bytes) -> Vec<libc::iovec> {
        let slice = |tag| libc::iovec { iov_base: self.at(Tag(tag)).cast(), iov_len: block.get() as usize };
        (0..depth).map(slice).collect()
    }

    /// The buffer of `tag`, which must not be lent.
    fn idle(&mut self, tag: Tag) -> Idle<'_> {
        let first = tag.0 as usize * self.each;
        assert!(first + self.each <= self.pages.len(), "tag {} has no buffer", tag.0);
        assert!(!self.lent[tag.0 as usize], "the buffer of tag {} is in flight", tag.0);
        // SAFETY: a page is plain numbers, all of whose bytes are set, and the assertions keep to those that there are and
        // that the kernel has given back; `self` is borrowed for as long, so that the buffer is not lent meanwhile.
        Idle { pages: unsafe { std::slice::from_raw_parts_mut(self.first.wrapping_add(first), self.each) } }
    }

    /// Has the kernel use the buffer of `tag`, until it is given back.
    pub fn lend(&mut self, tag: Tag) {
        self.lent[tag.0 as usize] = true;
    }

    /// Takes note that the request that used the buffer of `tag` is completed.
    pub fn give_back(&mut self, tag: Tag) {
        self.lent[tag.0 as usize] = false;
    }
}

impl<'m> Idle<'m> {
    /// Its first bytes.
    fn bytes(self, length: Bytes) -> &'m mut [u8] {
        let length = length.get() as usize;
        assert!(length <= size_of_val(self.pages), "{length} B are more than the buffer has");
        // SAFETY: a page is plain numbers, and the assertion keeps to those of the slice, which is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.pages.as_mut_ptr().cast(), length) }
    }
}
