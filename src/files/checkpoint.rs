//! PyTorch's checkpoints: a pickle and the bytes of storages in a zip archive. Follows
//! <https://pytorch.org/docs/2.7/notes/serialization.html>; the messages are PyTorch's.

use super::archive::{Archive, Body, Writer};
use super::atomic::{COMMON, rewrite};
use super::contents::shown;
use super::first_archives;
use super::legacy::{self, Legacy};
use super::pickle::{self, Attributes, Builder, Facts, Mode, Pickled, Saved, explained};
use super::progress;
use super::source::Source;
use std::collections::BTreeSet;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;
use std::rc::Rc;
use tensor::bail;
use tensor::system::{File, Files, PathKind, System};
use tensor::{Device, Error, ErrorKind, Result, Storage, Tensor};
use value::{Dict, Value};

/// The maximum size of a pickle, which is read as a whole.
const LARGEST_PICKLE: u64 = 1 << 29;

/// Options for loading a checkpoint.
#[derive(Default)]
pub struct Options<'a> {
    /// The devices for the storages.
    pub location: Location<'a>,
    /// Whether to map storages from the file.
    pub mapped: bool,
    /// Whether to leave storages zero.
    pub skip_data: bool,
    /// Whether to read plain numpy arrays as tensors, and pickles of any protocol. `torch.load` rejects them.
    pub with_arrays: bool,
    /// Is told the attributes of a tensor.
    pub attach: Option<&'a Attach<'a>>,
    /// Is told what is loaded to another device than it was saved from.
    pub say: Option<&'a dyn Fn(String)>,
}

/// Is told the attributes of a tensor.
pub(crate) type Attach<'a> = dyn Fn(&Tensor, Dict) + 'a;

/// `map_location`.
#[derive(Default)]
pub enum Location<'a> {
    /// The devices they were saved from.
    #[default]
    Own,
    /// The CPU, unless they have no data.
    Here,
    /// All to one device.
    To(String),
    /// From one device to another.
    Table(Vec<(String, String)>),
    /// The caller decides for each storage.
    Asked(Box<MapLocation<'a>>),
}

/// Takes a storage and the location it was saved from. Returns the storage to use, or `None` to keep the given one.
pub(crate) type MapLocation<'a> = dyn Fn(&Storage, &str) -> Result<Option<Storage>> + 'a;

/// A checkpoint with its pickle read, but not its data.
pub(crate) struct Checkpoint {
    pub pickled: Pickled,
    pub data: Data,
}

/// The source of the storages' bytes.
pub(crate) enum Data {
    Zip {
        archive: Archive,
        /// The folder of the archive that contains everything.
        folder: String,
        is_big_endian: bool,
    },
    Legacy(Legacy),
}

impl Checkpoint {
    /// Reads the description of a checkpoint's values.
    ///
    /// # Errors
    /// Fails with UnpicklingError for values that `weights_only` rejects, and with RuntimeError and other errors for
    /// damaged files.
    pub(crate) fn open(source: &Source, with_arrays: bool) -> Result<Checkpoint> {
        match with_arrays {
            true => Checkpoint::read(source, Mode::Arrays),
            false => Checkpoint::read(source, Mode::Load).map_err(explained),
        }
    }

    /// Like [`Checkpoint::open`], in any mode, with plain messages.
    ///
    /// # Errors
    /// Fails with RuntimeError and other errors for damaged files.
    pub(crate) fn read(source: &Source, mode: Mode) -> Result<Checkpoint> {
        if !source.is_archive() {
            return match () {
                () if first_archives::is_tar(source) => first_archives::open(source, mode),
                () if mode != Mode::Load && !legacy::is_one(source) => legacy::open_bare(source, mode),
                () => legacy::open(source, mode),
            };
        }
        let mut archive = Archive::open(source)?;
        let first = archive.names().first().ok_or_else(|| Error::runtime("the archive is empty"))?;
        let Some((folder, _)) = first.split_once('/') else {
            bail!(
                RuntimeError,
                "[enforce fail at inline_container.cc:176] . file in archive is not in a subdirectory: {first}"
            );
        };
        let folder = folder.to_owned();
        if mode != Mode::Report && archive.has(&format!("{folder}/constants.pkl")) {
            bail!(
                RuntimeError,
                "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. In PyTorch 2.6, we \
                 changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. \
                 Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in \
                 arbitrary code execution. Do it only if you got the file from a trusted source."
            );
        }
        let order = format!("{folder}/byteorder");
        let is_big_endian = match if archive.has(&order) { archive.read(&order, 64)? } else { b"little".to_vec() } {
            order if order == b"little" => false,
            order if order == b"big" => true,
            order => bail!(ValueError, "Unknown endianness type: {}", String::from_utf8_lossy(&order)),
        };
        let bytes = archive.read(&format!("{folder}/data.pkl"), LARGEST_PICKLE)?;
        let pickled = pickle::read(&bytes, &mut 0, mode)?;
        Ok(Checkpoint { pickled, data: Data::Zip { archive, folder, is_big_endian } })
    }
}

impl Data {
    /// Returns the bytes of a storage.
    ///
    /// # Errors
    /// Fails with RuntimeError if they are missing, have another size, or do not match their checksum.
    pub(crate) fn fetch(&mut self, saved: &Saved, mapped: bool) -> Result<Storage> {
        if let Some((bytes, start)) = &saved.inline {
            let bytes = bytes.get(*start..start.saturating_add(saved.nbytes));
            return Storage::from_bytes(bytes.ok_or_else(|| Error::runtime("a storage is cut off"))?);
        }
        match self {
            Data::Legacy(legacy) => legacy.fetch(saved),
            Data::Zip { archive, folder, is_big_endian } => {
                let mapped = mapped && !*is_big_endian;
                let storage =
                    archive.storage(&format!("{folder}/data/{}", saved.key), 0, saved.nbytes, spare(saved), mapped)?;
                let unit = saved.dtype.map_or(1, |dtype| dtype.to_real().itemsize());
                if *is_big_endian && unit > 1 {
                    storage.byteswap(unit)?;
                }
                Ok(storage)
            }
        }
    }

    /// Returns the file and the offset of a storage's bytes, if they are stored verbatim.
    pub(crate) fn stored(&self, saved: &Saved) -> Option<(Source, usize)> {
        match self {
            _ if saved.inline.is_some() => None,
            Data::Legacy(legacy) => legacy.stored(saved),
            Data::Zip { is_big_endian: true, .. } => None,
            Data::Zip { archive, folder, .. } => {
                archive.stored(&format!("{folder}/data/{}", saved.key), saved.nbytes, spare(saved))
            }
        }
    }
}

/// Returns the number of bytes that may follow a storage: PyTorch writes all its bytes, and reads whole elements.
fn spare(saved: &Saved) -> usize {
    saved.dtype.map_or(0, |dtype| dtype.itemsize() - 1)
}

/// `torch.load(weights_only=True)`.
///
/// # Errors
/// Fails with UnpicklingError for values that `weights_only` rejects, with RuntimeError and other errors for damaged
/// files, and with KeyboardInterrupt.
pub fn load(source: &Source, options: &Options) -> Result<Value> {
    if options.mapped && !source.is_archive() {
        let name = source.name().map(|name| format!("{name}, ")).unwrap_or_default();
        bail!(
            RuntimeError,
            "mmap can only be used with files saved with `torch.save({name}_use_new_zipfile_serialization=True), please \
             torch.save your checkpoint with this option in order to use mmap."
        );
    }
    let Checkpoint { pickled, mut data } = Checkpoint::open(source, options.with_arrays)?;
    options.say_devices(&pickled);
    options.builder(&pickled, &mut data).value(pickled.root)
}

impl Options<'_> {
    /// Says which devices the storages were saved from, if they do not exist here.
    pub(crate) fn say_devices(&self, pickled: &Pickled) {
        let (Some(say), Location::Here) = (self.say, &self.location) else { return };
        if let Some(devices) = foreign_devices(pickled.storages.iter().map(|saved| &*saved.location)) {
            say(format!("tensors saved from {devices} are loaded to the CPU"));
        }
    }

    /// Returns a builder of the values of a checkpoint.
    pub(crate) fn builder<'p>(
        &'p self,
        pickled: &'p Pickled,
        data: &'p mut Data,
    ) -> Builder<'p, impl FnMut(&Saved) -> Result<Storage>, impl FnMut(&Tensor, Dict)> {
        let attach = |tensor: &Tensor, attributes| {
            if let Some(attach) = self.attach {
                attach(tensor, attributes);
            }
        };
        Builder::new(pickled, |saved| self.storage(saved, data), attach)
    }

    /// Returns a storage with its bytes, on the requested device.
    fn storage(&self, saved: &Saved, data: &mut Data) -> Result<Storage> {
        let tag = match &self.location {
            Location::Here if is_foreign(&saved.location) => "cpu",
            Location::Own | Location::Here => &*saved.location,
            Location::To(tag) => tag,
            Location::Table(table) => {
                table.iter().find(|(from, _)| *from == *saved.location).map_or(&*saved.location, |(_, to)| to)
            }
            Location::Asked(place) => return self.storage_of_caller(place, saved, data),
        };
        if device(tag)?.is_meta() {
            return Storage::zeroed(saved.nbytes, Device::META);
        }
        self.fetch(saved, data)
    }

    fn fetch(&self, saved: &Saved, data: &mut Data) -> Result<Storage> {
        if self.skip_data {
            return Storage::zeroed(saved.nbytes, Device::CPU);
        }
        let storage = data.fetch(saved, self.mapped)?;
        // A storage loaded from a file is not resizable.
        storage.slice(0, storage.nbytes())
    }

    /// Returns the storage that the caller provides for one of the file.
    fn storage_of_caller(&self, place: &MapLocation, saved: &Saved, data: &mut Data) -> Result<Storage> {
        // In a legacy file the bytes come last, and are copied into the provided storage.
        let is_filled_later = matches!(data, Data::Legacy(_)) && !self.skip_data;
        let storage = match is_filled_later {
            true => Storage::zeroed(saved.nbytes, Device::CPU)?,
            false => self.fetch(saved, data)?,
        };
        let given = match place(&storage, &saved.location)? {
            Some(given) => given,
            None if device(&saved.location)?.is_meta() => Storage::zeroed(saved.nbytes, Device::META)?,
            None => storage,
        };
        if is_filled_later && !given.tensor_device().is_meta() {
            if given.nbytes() != saved.nbytes {
                // A bug in PyTorch: the format string is never filled in, and the numbers are appended.
                let (wanted, found) = (saved.nbytes, given.nbytes());
                bail!(RuntimeError, "storage has wrong byte size: expected %ld got %ld{wanted}{found}");
            }
            given.copy_from(&data.fetch(saved, false)?)?;
        }
        Ok(given)
    }
}

/// Returns whether an archive is a checkpoint: its files are in one folder, and one of them is the pickle.
pub(crate) fn is_one(archive: &Archive) -> bool {
    let folder = archive.names().first().and_then(|name| name.split_once('/')).map(|(folder, _)| folder);
    folder.is_some_and(|folder| archive.has(&format!("{folder}/data.pkl")))
}

/// Returns the names of the locations that are devices which do not exist here, if there are any.
pub(crate) fn foreign_devices<'l>(locations: impl Iterator<Item = &'l str>) -> Option<String> {
    let foreign: BTreeSet<&str> = locations.filter(|location| is_foreign(location)).collect();
    let names: Vec<String> = foreign.into_iter().map(shown).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Returns whether a location is a device that does not exist here.
fn is_foreign(location: &str) -> bool {
    !matches!(location.split(':').next(), Some("cpu" | "meta"))
}

/// Returns the device for a location in a file, or for a requested one.
fn device(tag: &str) -> Result<Device> {
    match tag.split(':').next() {
        Some("cpu") => Ok(Device::CPU),
        Some("meta") => Ok(Device::META),
        Some(name @ ("cuda" | "xpu")) => bail!(
            RuntimeError,
            "Attempting to deserialize object on a {} device but torch.{name}.is_available() is False. If you are running \
             on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to \
             the CPU.",
            name.to_uppercase()
        ),
        Some(name @ ("hpu" | "privateuseone")) => bail!(
            RuntimeError,
            "The {} device module is not registered. If you are running on a CPU-only machine, please use torch.load \
             with map_location=torch.device('cpu') to map your storages to the CPU.",
            name.to_uppercase()
        ),
        Some("mps") => bail!(RuntimeError, "torch.UntypedStorage(): Storage device not recognized: mps"),
        _ => bail!(
            RuntimeError,
            "don't know how to restore data location of torch.storage.UntypedStorage (tagged with {tag})"
        ),
    }
}

/// Options for saving a checkpoint.
#[derive(Default)]
pub struct SaveOptions<'a> {
    /// Whether to write all storages as zeros.
    pub skip_data: bool,
    /// Returns the attributes that were given to a tensor.
    pub attributes: Option<&'a Attributes<'a>>,
}

/// `torch.save` to a file, which is replaced atomically.
///
/// # Errors
/// Fails with TypeError for values that cannot be pickled, with RuntimeError if the file cannot be written, and with
/// KeyboardInterrupt.
pub fn save(value: &Value, path: &str, options: &SaveOptions) -> Result<()> {
    let stem = folder_of(path)?;
    replacing(path, |file| write(value, stem, options, BufWriter::with_capacity(1 << 16, file)))
}

/// Returns the name of the folder in the archive: the file's name without its extension.
///
/// # Errors
/// Fails with RuntimeError for a path without a file name.
pub(crate) fn folder_of(path: &str) -> Result<&str> {
    let stem = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match stem.rsplit_once('.').map_or(stem, |(stem, _)| stem) {
        "" => bail!(RuntimeError, "[enforce fail at inline_container.cc:707] . invalid file name: {path}"),
        stem => Ok(stem),
    }
}

/// Writes a file. If it cannot be opened, the message is PyTorch's.
///
/// # Errors
/// Fails with RuntimeError, and with the errors of `write`.
pub(crate) fn replacing(path: &str, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder
        && !matches!(System::kind(folder), Ok(PathKind::Folder))
    {
        bail!(RuntimeError, "Parent directory {} does not exist.", folder.display());
    }
    let refused = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::StorageFull => Error::new(ErrorKind::OSError, format!("[Errno 28] {error}: '{path}'")),
        _ => Error::runtime(format!("File {path} cannot be opened.")),
    };
    rewrite(Path::new(path), COMMON, refused, write)
}

/// `torch.save` to a writer. `name` is the name of the folder in the archive.
///
/// # Errors
/// The errors of [`save`].
pub fn write<W: Write + Seek>(value: &Value, name: &str, options: &SaveOptions, to: W) -> Result<()> {
    let facts = Facts { attributes: options.attributes, location: None };
    write_bodies(value, name, to, &facts, &|storage| {
        let is_zero = options.skip_data || storage.tensor_device().is_meta();
        let body = if is_zero { Storage::zeroed(storage.nbytes(), Device::CPU)? } else { storage.clone() };
        Ok(Rc::new(body))
    })
}

/// Like `write`, with the bytes of every storage from `body`.
///
/// # Errors
/// The errors of [`save`], and the errors of `body`.
pub(crate) fn write_bodies<W: Write + Seek>(
    value: &Value,
    name: &str,
    to: W,
    facts: &Facts,
    body: &dyn Fn(&Storage) -> Result<Rc<dyn Body>>,
) -> Result<()> {
    let pickle = pickle::write(value, facts)?;
    let _task = progress::begin(pickle.storages.iter().map(|storage| storage.nbytes() as u64).sum());
    let mut archive = Writer::new(to);
    archive.add(&format!("{name}/data.pkl"), &pickle.bytes)?;
    archive.add(&format!("{name}/.format_version"), b"1")?;
    archive.add(&format!("{name}/.storage_alignment"), b"64")?;
    let order: &[u8] = if cfg!(target_endian = "little") { b"little" } else { b"big" };
    archive.add(&format!("{name}/byteorder"), order)?;
    for (key, storage) in pickle.storages.iter().enumerate() {
        archive.add_body(&format!("{name}/data/{key}"), &[], &*body(storage)?)?;
    }
    archive.add(&format!("{name}/version"), b"3\n")?;
    archive.finish()?.flush().map_err(|error| Error::runtime(format!("file write failed: {error}")))
}
