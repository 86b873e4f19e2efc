//! Every measurement and every figure of a trial as columns, in Apache Parquet, for data frames.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use plan::Outcome;

use super::table::{ColumnKind, TableColumn, review_table};

/// All of a run as one table in Apache Parquet, uncompressed.
///
/// A row for the reads, writes, trims and flushes of each measurement, with the columns of
/// [`review_csv`](super::review_csv()), and a row for each figure of each trial, which has `repeat`, `figure`,
/// `unit`, `value` and `better` in their place. What a row does not have is null. Sizes are bytes, times nanoseconds, rates per second. The
/// seed is text: it may be more than the 63 bits of a number here.
///
/// # Errors
/// If the table is more than the format holds.
pub fn review_parquet(outcome: &Outcome) -> Result<Vec<u8>, ParquetError> {
    let columns = review_table(outcome);
    let schema = columns.iter().map(|column| column.schema().map(Arc::new)).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("assay").with_fields(schema).build()?;
    let properties = WriterProperties::builder().set_created_by(format!("assay {}", outcome.run.version)).build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    columns.iter().try_for_each(|column| column.write(&mut group))?;
    group.close()?;
    file.into_inner()
}

impl TableColumn {
    fn schema(&self) -> Result<Type, ParquetError> {
        let (physical, logical) = match self.kind {
            ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnKind::Truth => (Physical::BOOLEAN, None),
            ColumnKind::Whole => (Physical::INT64, None),
            ColumnKind::Real => (Physical::DOUBLE, None),
        };
        let column = Type::primitive_type_builder(self.name, physical);
        column.with_logical_type(logical).with_repetition(Repetition::OPTIONAL).build()
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<Vec<u8>>) -> Result<(), ParquetError> {
        match self.kind {
            ColumnKind::Text => self.write_as::<ByteArrayType>(group, |text| Some(ByteArray::from(text))),
            ColumnKind::Truth => self.write_as::<BoolType>(group, |text| Some(text == "yes")),
            ColumnKind::Whole => self.write_as::<Int64Type>(group, |text| text.parse().ok()),
            ColumnKind::Real => self.write_as::<DoubleType>(group, |text| text.parse().ok()),
        }
    }

    fn write_as<T: DataType>(
        &self,
        group: &mut SerializedRowGroupWriter<Vec<u8>>,
        read: impl Fn(&str) -> Option<T::T>,
    ) -> Result<(), ParquetError> {
        let value = |value: &Option<String>| match value {
            Some(text) => match read(text) {
                Some(value) => Ok(Some(value)),
                None => Err(ParquetError::General(format!("`{text}` is no value for the column {}", self.name))),
            },
            None => Ok(None),
        };
        let values = self.values.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<T::T> = values.into_iter().flatten().collect();
        let mut column = group.next_column()?.expect("there is a column of the file for each of these");
        column.typed::<T>().write_batch(&values, Some(&levels), None)?;
        column.close()
    }
}
