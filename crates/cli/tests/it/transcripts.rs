//! What a user types and sees: the transcripts under `tests/cli`.

#[test]
fn the_transcripts_are_true() {
    // A folder of its own: root opens no store where others can change what is in it, as in the folder for temporary files.
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.sqlite");
    trycmd::TestCases::new().env("ASSAY_STORE", store.display().to_string()).case("tests/cli/*.trycmd");
}
