//! Where reviews come from: those that are built in, and files.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use block::{nearest, suggestion};
use host::Within;
use thiserror::Error;
use toml::de::DeTable;

use super::published::{Published, parse};
use super::qos;
use crate::catalog::{CatalogError, PlanSource, read_file, read_within};
use crate::{Diagnostic, Method, MethodPart, parse_method};

/// A published review and how it is repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// Its figures.
    pub published: Published,
    /// How it is repeated.
    pub method: Method,
}

/// Puts a review's two files into the program.
macro_rules! embed {
    ($($name:literal,)*) => {
        &[$((
            $name,
            include_str!(concat!("../../../../published/", $name, ".toml")),
            include_str!(concat!("../../../../plans/replicate/", $name, ".toml")),
        )),*]
    };
}

/// The reviews that are built in: name, figures, method. The longest stands first, so that others run beside it.
const BUILTIN: &[(&str, &str, &str)] =
    embed!["solid-data", "canonical-520", "toms-sata-6g", "toms-x25e-array", "ocaholic-x25m",];

/// Why a review cannot be repeated.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum ReviewError {
    /// No built-in review has this name.
    #[error("there is no review `{name}` (a file's name ends in `.toml` or holds a `/`); {}", suggestion(name, &names()))]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// A file cannot be read as text.
    #[error(transparent)]
    Source(#[from] CatalogError),
    /// The file of figures cannot be read.
    #[error("cannot read the figures in {}: {error}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// It is no text of figures at all.
    #[error("{} holds no figures: {found}; a file of figures is UTF-8 text of at most 1 MiB", path.display())]
    NotText {
        path: PathBuf,
        /// What it holds.
        found: &'static str,
    },
    /// A file has neither the figures of a review nor any others.
    #[error(
        "{file_name} holds no figures: it {}, and neither `review` nor `[[qos]]`; latencies and rates of single drives are in \
         `[[drive]]` and `[[qos]]` tables, those of a review in `review`, `method` and `[[group]]` (docs/calibration.md has an \
         example of each)",
        if keys.is_empty() { "is empty".to_owned() } else { format!("has {}", keys.join(", ")) }
    )]
    NoFigures {
        /// The figures' file.
        file_name: String,
        /// What it has instead.
        keys: Vec<String>,
    },
    /// The figures are of single drives, not of a review.
    #[error(
        "{file_name} is no review: it has latencies and rates (`[[qos]]`), which `assay replicate {file_name}` compares"
    )]
    Latencies {
        /// The figures' file.
        file_name: String,
    },
    /// A file has mistakes.
    #[error("{} has {} mistakes", file.file_name, mistakes.len())]
    Mistakes {
        file: PlanSource,
        /// What is wrong in it.
        mistakes: Vec<Diagnostic>,
    },
    /// The figures' file does not say how to repeat the review.
    #[error("{file_name} does not say how its review is repeated; add `method = \"FILE\"`, relative to it")]
    NoMethod {
        /// The figures' file.
        file_name: String,
    },
    /// Figures and method are of different reviews.
    #[error("the figures are of `{figures}` and the method is of `{method}`; give both the same name")]
    Names {
        /// The review's name in the figures' file.
        figures: String,
        method: String,
    },
    /// A figure comes from nothing.
    #[error("nothing in the method yields `{id}`{}", nearest.as_ref().map(|near| format!("; {near}")).unwrap_or_default())]
    Unanswered {
        /// What is not yielded.
        id: String,
        /// The most similar that is.
        nearest: Option<String>,
    },
}

impl Review {
    /// Puts figures and method together.
    ///
    /// # Errors
    /// If either has mistakes or they do not fit together.
    pub fn new(figures: PlanSource, method: PlanSource) -> Result<Self, ReviewError> {
        let published = match parse(&figures.text) {
            Ok(published) => published,
            Err(mistakes) => return Err(ReviewError::Mistakes { file: figures, mistakes }),
        };
        let method = match parse_method(&method.text) {
            Ok(method) => method,
            Err(mistakes) => return Err(ReviewError::Mistakes { file: method, mistakes }),
        };
        if published.review != method.name {
            return Err(ReviewError::Names { figures: published.review, method: method.name });
        }
        let review = Self { published, method };
        review.check()?;
        Ok(review)
    }

    /// That everything comes from something.
    fn check(&self) -> Result<(), ReviewError> {
        let mut known: HashSet<&str> = self.method.parts.iter().flat_map(ids).collect();
        let need = |id: &str, known: &HashSet<&str>| {
            let is_known = match id.strip_suffix('*') {
                Some(start) => known.iter().any(|known| known.starts_with(start)),
                None => known.contains(id),
            };
            if is_known { Ok(()) } else { Err(unanswered(id, known)) }
        };
        for total in &self.method.totals {
            total.parts().try_for_each(|id| need(id, &known))?;
            known.insert(&total.id);
        }
        for figure in self.published.figures().filter(|figure| figure.unmeasured.is_none()) {
            match &figure.ratio {
                Some(ratio) => ratio.iter().try_for_each(|id| need(id, &known))?,
                None => need(&figure.id, &known)?,
            }
            known.insert(&figure.id);
        }
        Ok(())
    }
}

/// The figures that a part yields.
fn ids(part: &MethodPart) -> impl Iterator<Item = &str> {
    part.yields.iter().map(|yielded| yielded.id.as_str())
}

fn unanswered(id: &str, known: &HashSet<&str>) -> ReviewError {
    let nearest = nearest(id, known).map(|near| format!("did you mean `{near}`?"));
    ReviewError::Unanswered { id: id.to_owned(), nearest }
}

/// The names of the reviews that are built in.
pub fn names() -> Vec<&'static str> {
    BUILTIN.iter().map(|(name, ..)| *name).collect()
}

/// Whether a user means a file by this, and nothing built in.
pub fn is_path(name_or_path: &str) -> bool {
    let is_builtin = BUILTIN.iter().any(|(name, ..)| *name == name_or_path);
    !is_builtin && (name_or_path.ends_with(".toml") || name_or_path.contains('/'))
}

/// The text of a file of figures: those of a review, or latencies and rates.
///
/// # Errors
/// If it cannot be read, or is no text of bearable length.
pub fn figures(path: &str) -> Result<PlanSource, ReviewError> {
    read_file(PathBuf::from(path)).map_err(|error| match error {
        CatalogError::Unreadable { path, error } => ReviewError::Unreadable { path, error },
        CatalogError::NotText { path, found } => ReviewError::NotText { path, found },
        error => ReviewError::Source(error),
    })
}

/// The review that a user names: built in, or the file of its figures.
///
/// # Errors
/// Says what is missing or wrong, and which reviews there are.
pub fn find(name_or_path: &str) -> Result<Review, ReviewError> {
    if let Some((name, figures, method)) = BUILTIN.iter().find(|(name, ..)| *name == name_or_path) {
        let source =
            |folder: &str, text: &str| PlanSource { file_name: format!("{folder}/{name}.toml"), text: text.to_owned() };
        return Review::new(source("published", figures), source("plans/replicate", method));
    }
    if !is_path(name_or_path) {
        return Err(ReviewError::Unknown { name: name_or_path.to_owned() });
    }
    of_figures(figures(name_or_path)?)
}

/// The review whose figures a file has.
///
/// # Errors
/// Says what is missing or wrong.
pub fn of_figures(figures: PlanSource) -> Result<Review, ReviewError> {
    if qos::is_figures(&figures.text) {
        return Err(ReviewError::Latencies { file_name: figures.file_name });
    }
    if let Some(keys) = keys_beside(&figures.text) {
        return Err(ReviewError::NoFigures { file_name: figures.file_name, keys });
    }
    let published = match parse(&figures.text) {
        Ok(published) => published,
        Err(mistakes) => return Err(ReviewError::Mistakes { file: figures, mistakes }),
    };
    let method = match &published.method {
        Some(method) => {
            let within = Within::folder_of(Path::new(&figures.file_name));
            read_within(within.path(Path::new(method)), &within)?
        }
        None => return Err(ReviewError::NoMethod { file_name: figures.file_name }),
    };
    Review::new(figures, method)
}

/// The keys of a text that has no figures at all; none where it has some, or is no TOML.
fn keys_beside(text: &str) -> Option<Vec<String>> {
    /// So many are named.
    const NAMED: usize = 5;
    let document = DeTable::parse(text).ok()?;
    let document = document.get_ref();
    let has_figures = ["review", "group", "title"].iter().any(|key| document.contains_key(*key));
    let named = document.keys().take(NAMED).map(|key| format!("`{}`", key.get_ref()));
    (!has_figures).then(|| named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replicate::Use;

    fn source(text: &str) -> PlanSource {
        PlanSource { file_name: "x.toml".to_owned(), text: text.to_owned() }
    }

    const FIGURES: &str = "review = \"r\"\ntitle = \"t\"\nsource = \"s\"\n[[group]]\ntitle = \"g\"\ntolerance = \"10%\"\n\
        [[group.series]]\ntitle = \"s\"\nfigures = [{ id = \"r/4k\", use = \"fit\", value = 5000 }]\n";
    const METHOD: &str = "name = \"r\"\n[[part]]\nname = \"p\"\ntarget = \"x25-m\"\n[[part.step]]\nname = \"s\"\nrw = \"randread\"\n\
        number_ios = 10\nsweep.bs = [\"4k\", \"8k\"]\nyields.iops = \"r/{bs}\"\n";

    #[test]
    fn every_review_that_is_built_in_can_be_read() {
        for name in names() {
            let review = find(name).unwrap_or_else(|error| match error {
                ReviewError::Mistakes { file, mistakes } => {
                    panic!("{}", crate::render(&mistakes, &file.file_name, &file.text, false))
                }
                error => panic!("{name}: {error}"),
            });
            assert_eq!(review.published.review, name);
            assert!(!review.published.source.is_empty() && review.published.figures().count() > 0, "{name}");
        }
    }

    #[test]
    fn no_more_than_half_of_solid_datas_figures_are_fitted_and_every_second_size_is() {
        let published = find("solid-data").unwrap().published;
        let sizes = |usage: Use| -> HashSet<String> {
            let used = published.figures().filter(|figure| figure.usage == usage && figure.ratio.is_none());
            used.filter_map(|figure| figure.id.rsplit('/').next()).map(str::to_owned).collect()
        };
        let fitted: HashSet<String> = ["1024", "4096", "16384", "65536"].map(str::to_owned).into();
        assert_eq!(sizes(Use::Fit), fitted);
        let count =
            |usage| published.figures().filter(|figure| figure.usage == usage && figure.ratio.is_none()).count();
        assert_eq!((count(Use::Fit), count(Use::Check)), (26, 38));
        assert_eq!(published.figures().filter(|figure| figure.odd.is_some()).count(), 4);
    }

    #[test]
    fn a_wrong_name_is_corrected_and_a_file_without_a_method_explained() {
        let said = find("solid-dta").unwrap_err().to_string();
        assert!(said.contains("did you mean `solid-data`?"), "{said}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.toml");
        std::fs::write(&path, FIGURES).unwrap();
        let said = find(&path.display().to_string()).unwrap_err().to_string();
        assert!(said.contains("add `method = "), "{said}");
        std::fs::write(folder.path().join("method.toml"), METHOD).unwrap();
        std::fs::write(&path, FIGURES.replacen("title", "method = \"method.toml\"\ntitle", 1)).unwrap();
        assert_eq!(find(&path.display().to_string()).unwrap().method.parts.len(), 1);
    }

    #[test]
    fn a_file_without_figures_is_told_what_one_has() {
        for (text, found) in
            [("", "it is empty"), ("# none\n", "it is empty"), ("[[drive]]\nid = \"d\"\n", "it has `drive`")]
        {
            let said = of_figures(source(text)).unwrap_err().to_string();
            assert!(said.contains(found) && said.contains("neither `review` nor `[[qos]]`"), "{text:?}: {said}");
        }
    }

    #[test]
    fn the_example_in_the_documentation_is_a_review() {
        let page = include_str!("../../../../docs/calibration.md");
        let mut examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let (figures, method) = (examples.next().unwrap(), examples.next().unwrap());
        let review = Review::new(source(figures), source(method)).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((review.method.parts.len(), review.published.figures().count()), (2, 4));
        let keys =
            ["value", "about", "at_least", "at_most", "below", "ratio", "tolerance", "label", "odd", "unmeasured"];
        for word in keys.into_iter().chain(crate::Metric::names()) {
            assert!(page.contains(&format!("`{word}`")), "`{word}` is explained");
        }
    }

    #[test]
    fn what_nothing_yields_is_refused() {
        let new = |figures: &str, method: &str| Review::new(source(figures), source(method));
        assert!(new(FIGURES, METHOD).is_ok());
        let said = new(&FIGURES.replace("r/4k", "r/4m"), METHOD).unwrap_err().to_string();
        assert!(said.contains("nothing in the method yields `r/4m`; did you mean `r/4k`?"), "{said}");
        let ratio = FIGURES.replace("value = 5000", "ratio = [\"r/4k\", \"r/9k\"], below = 2");
        assert!(new(&ratio, METHOD).unwrap_err().to_string().contains("`r/9k`"));
        let said = new(FIGURES, &METHOD.replace("name = \"r\"", "name = \"q\"")).unwrap_err().to_string();
        assert!(said.contains("of `r` and the method is of `q`"), "{said}");
    }
}
