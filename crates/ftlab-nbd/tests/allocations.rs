//! A session that is warm allocates nothing, whatever is read and written.

use ftlab_nbd::protocol::{BlockCommand, Export, Session, SessionEvent};

const SIZE: u64 = 1 << 20;

/// Length of the pieces in which bytes arrive: no multiple of anything, so that messages are cut everywhere.
const PIECE: usize = 10_007;

/// Header of a request for 8 KiB.
fn request(action: u16, cookie: u64) -> Vec<u8> {
    let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
    bytes.extend([0, 0]);
    bytes.extend(action.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend((cookie * 512 % (SIZE / 2)).to_be_bytes());
    bytes.extend(8192u32.to_be_bytes());
    bytes
}

fn feed(session: &mut Session, mut bytes: &[u8]) -> u64 {
    let mut requests = 0;
    loop {
        while let Some(event) = session.next() {
            let SessionEvent::Request(request) = event else { continue };
            requests += 1;
            match request.command {
                BlockCommand::Read(span) => session.read(request.ticket).data(span.length).fill(1),
                BlockCommand::Write { data, .. } => {
                    session.recycle(data);
                    session.done(request.ticket);
                }
                _ => session.done(request.ticket),
            }
        }
        let output = session.output().len();
        session.sent(output.min(3 * PIECE));
        if bytes.is_empty() {
            return requests;
        }
        let space = session.space();
        let count = space.len().min(bytes.len()).min(PIECE);
        space[..count].copy_from_slice(&bytes[..count]);
        session.received(count);
        bytes = &bytes[count..];
    }
}

#[test]
fn requests_allocate_nothing() {
    let export = Export {
        name: "disk".into(),
        description: String::new(),
        size: SIZE,
        preferred_block: 4096,
        read_only: false,
        multi_connection: false,
        fast_zeroes: false,
    };
    let mut session = Session::new([export].into());
    feed(&mut session, b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0");
    let rounds: Vec<u8> = (0..200)
        .flat_map(|cookie| {
            let write = [request(1, cookie), vec![7; 8192]].concat();
            [request(0, cookie), write, request(4, cookie)].concat()
        })
        .collect();
    assert_eq!(feed(&mut session, &rounds), 600);
    let spent = allocation_counter::measure(|| {
        assert_eq!(feed(&mut session, &rounds), 600);
    });
    assert_eq!(spent.count_total, 0);
}
