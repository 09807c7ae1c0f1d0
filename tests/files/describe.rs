//! Describes a value as text, like `describe` in scripts/house/files.py.

use std::fmt::Write;
use tensorsh::files::gguf::BlockTensor;
use tensorsh::tensor::memory::get;
use tensorsh::tensor::{Buffer, BufferKind, Form, Quantizer, Storage, Tensor, View};
use tensorsh::value::{Object, Value};

/// Returns the description of a value: its tensors, their layouts and storages, and the storages' bytes.
pub(super) fn describe(value: &Value) -> String {
    let mut teller = Teller { lines: String::new(), storages: Vec::new() };
    teller.visit("value", value);
    let Teller { mut lines, storages } = teller;
    for (number, storage) in storages.iter().enumerate() {
        writeln!(lines, "storage {number}: {}", hex(&storage.to_vec().unwrap())).unwrap();
    }
    lines
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(buffer: &Buffer) -> Vec<u8> {
    buffer.memory().bytes().iter().map(get).collect()
}

struct Teller {
    lines: String,
    storages: Vec<Storage>,
}

impl Teller {
    fn say(&mut self, path: &str, what: &str) {
        writeln!(self.lines, "{path}: {what}").unwrap();
    }

    fn storage(&mut self, storage: &Storage) -> usize {
        self.storages.iter().position(|known| known == storage).unwrap_or_else(|| {
            self.storages.push(storage.clone());
            self.storages.len() - 1
        })
    }

    /// Describes a sparse tensor by its components, a quantized one by its integers and parameters.
    fn form(&mut self, path: &str, view: &View, form: &Form) {
        let part = |name: &str, view: &View| (format!("{path}.{name}"), Value::from(view.clone()));
        let parts = match form {
            Form::Coo(coo) => {
                let is_coalesced = if coo.coalesced { "True" } else { "False" };
                self.say(path, &format!("sparse_coo {:?} coalesced {is_coalesced}", view.sizes()));
                vec![part("indices", &coo.indices), part("values", &coo.values)]
            }
            Form::Compressed(of) => {
                self.say(path, &format!("{} {:?}", of.layout.name(), view.sizes()));
                vec![part("compressed", &of.compressed), part("plain", &of.plain), part("values", &of.values)]
            }
            Form::Quantized(Quantizer::PerTensor { scale, zero_point }) => {
                let number = |name: &str, value| (format!("{path}.{name}"), value);
                vec![number("scale", Value::Float(*scale)), number("zero_point", Value::Int(*zero_point))]
            }
            Form::Quantized(Quantizer::PerChannel { scales, zero_points, axis }) => {
                self.say(&format!("{path}.axis"), &axis.to_string());
                vec![part("scales", scales), part("zero_points", zero_points)]
            }
        };
        parts.iter().for_each(|(path, part)| self.visit(path, part));
    }

    fn tensor(&mut self, path: &str, tensor: &Tensor) {
        let view = tensor.view();
        if let Some(form) = &view.form {
            self.form(path, &view, form);
            if view.quantizer().is_none() {
                return;
            }
        }
        let kind = if tensor.is_parameter() { "parameter" } else { "tensor" };
        let place = match view.device().is_meta() {
            true => "meta".to_owned(),
            false => format!("storage {}", self.storage(&view.storage)),
        };
        let marks = [("requires_grad", tensor.requires_grad()), ("conj", view.conj), ("neg", view.neg)];
        let marks: String = marks.iter().filter(|(_, on)| *on).map(|(mark, _)| format!(" {mark}")).collect();
        let (sizes, strides, offset) = (view.sizes(), view.strides(), view.layout.offset);
        self.say(path, &format!("{kind} {} {sizes:?} {strides:?} {offset} {place}{marks}", view.dtype.name()));
    }

    /// Describes quantized blocks by their bytes and their dequantized numbers.
    fn blocks(&mut self, path: &str, blocks: &BlockTensor) {
        let [count, nbytes] = ["n_elements", "n_bytes"].map(|name| match blocks.attribute(name) {
            Some(Value::Int(number)) => number,
            other => panic!("{name} is {other:?}"),
        });
        self.say(path, &format!("blocks of {} {:?} {count} {nbytes}", blocks.kind().blocks.name, blocks.sizes()));
        self.visit(&format!("{path}.data"), &Value::from(blocks.data()));
        self.visit(&format!("{path}.dequantized"), &Value::from(blocks.dequantize().unwrap()));
    }

    fn items(&mut self, path: &str, kind: &str, items: &[Value]) {
        self.say(path, &format!("{kind} of {}", items.len()));
        items.iter().enumerate().for_each(|(index, item)| self.visit(&format!("{path}[{index}]"), item));
    }

    fn entries(&mut self, path: &str, kind: &str, entries: &[(Value, Value)]) {
        self.say(path, &format!("{kind} of {}", entries.len()));
        for (key, value) in entries {
            match key {
                Value::Str(key) => self.visit(&format!("{path}.{key}"), value),
                Value::Int(key) => self.visit(&format!("{path}[{key}]"), value),
                other => panic!("a key is a {}", other.type_name()),
            }
        }
    }

    fn visit(&mut self, path: &str, value: &Value) {
        match value {
            Value::Tensor(tensor) => self.tensor(path, tensor),
            Value::TypedStorage(typed) => {
                let number = self.storage(&typed.storage);
                self.say(path, &format!("storage of {} storage {number}", typed.dtype.name()));
            }
            Value::Dict(dict) => {
                self.entries(path, if dict.is_ordered() { "OrderedDict" } else { "dict" }, &dict.to_vec());
            }
            Value::List(list) => self.items(path, "list", &list.to_vec()),
            Value::Tuple(items) => self.items(path, "tuple", items),
            Value::Size(sizes) => self.say(path, &format!("Size {:?}", sizes.as_slice())),
            Value::Float(number) => self.say(path, &format!("float {}", hex(&number.to_be_bytes()))),
            Value::Complex(number) => {
                let parts = [number.re.to_be_bytes(), number.im.to_be_bytes()].concat();
                self.say(path, &format!("complex {}", hex(&parts)));
            }
            Value::Buffer(buffer) => {
                let kind = if buffer.kind() == BufferKind::Bytes { "bytes" } else { "bytearray" };
                self.say(path, &format!("{kind} {}", hex(&bytes_of(buffer))));
            }
            value if let Some(blocks) = BlockTensor::of(value) => self.blocks(path, blocks),
            Value::None => self.say(path, "None"),
            Value::Bool(true) => self.say(path, "True"),
            Value::Bool(false) => self.say(path, "False"),
            Value::Int(number) => self.say(path, &number.to_string()),
            Value::BigInt(number) => self.say(path, &number.to_string()),
            Value::Str(text) => self.say(path, text),
            Value::DType(dtype) => self.say(path, &format!("torch.{}", dtype.name())),
            Value::Device(device) => self.say(path, &device.to_string()),
            Value::Layout(layout) => self.say(path, &format!("torch.{}", layout.name())),
            other => panic!("{path} is a {}", other.type_name()),
        }
    }
}
