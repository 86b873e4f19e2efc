//! What a user types and sees: the transcripts under `tests/cli`.

#[test]
fn the_transcripts_are_true() {
    trycmd::TestCases::new().case("tests/cli/*.trycmd");
}
