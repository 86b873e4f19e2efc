//! What a user types and sees: the transcripts under `tests/cli`.

#[test]
fn the_transcripts_are_true() {
    let store = std::env::temp_dir().join(format!("assay-transcripts-{}.sqlite", std::process::id()));
    trycmd::TestCases::new().env("ASSAY_STORE", store.display().to_string()).case("tests/cli/*.trycmd");
}
