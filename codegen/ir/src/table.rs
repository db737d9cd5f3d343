//! What is made of the rows of the op table.
//!
//! A row has documentation, a variant, a name, numbers of operands, attributes; and behind `where` what holds of the op: the [rules](crate::rules) for shapes and types, which see
//! the attributes, and further [facts](crate::Facts) where they are others than those that are true of any op.

macro_rules! op_table {
    ($( $(#[doc = $doc:literal])+ $variant:ident $name:literal ($min:literal..=$max:literal)
        { $( $(#[doc = $adoc:literal])+ $attr:ident : $ty:ty ),* $(,)? }
        where { shapes: $shapes:expr, types: $types:expr $(, $fact:ident : $value:expr)* $(,)? } )+) => {
        /// An operation with its attributes.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $( $(#[doc = $doc])+ $variant { $( $(#[doc = $adoc])+ $attr: $ty ),* }, )+
        }

        impl Op {
            /// Every op, in the order of the table.
            pub const TABLE: &'static [OpInfo] = &[
                $( OpInfo { variant: stringify!($variant), name: $name, operands: ($min, $max), doc: concat!($($doc, "\n"),+) } ),+
            ];

            /// The op's row of the table.
            pub fn info(&self) -> &'static OpInfo {
                // The variants are declared in the order of the rows.
                let mut row = 0;
                $( if matches!(self, Op::$variant { .. }) { return &Self::TABLE[row]; } row += 1; )+
                &Self::TABLE[row - 1]
            }

            /// The op's name.
            pub fn name(&self) -> &'static str {
                match self { $( Op::$variant { .. } => $name ),+ }
            }

            /// What holds of the op besides what it computes.
            #[allow(unused_variables, clippy::needless_update)]
            pub fn facts(&self) -> Facts<'_> {
                match self {
                    $( Op::$variant { $($attr),* } => Facts { $( $fact: $value, )* ..Facts::default() }, )+
                }
            }

            /// The shapes of operands and result agree with the op and its attributes. The number of operands is right; types are well formed.
            #[allow(unused_variables)]
            pub(crate) fn check_shapes(&self, operands: &[&Type], result: &Type) -> Checked {
                match self {
                    $( Op::$variant { $($attr),* } => obey($shapes, operands, result), )+
                }
            }

            /// Element types, quantisation and attributes agree with the op. The number of operands is right and shapes have been
            /// looked at, though not necessarily found right.
            #[allow(unused_variables)]
            pub(crate) fn check_types(&self, operands: &[&Type], result: &Type) -> Checked {
                match self {
                    $( Op::$variant { $($attr),* } => obey($types, operands, result), )+
                }
            }

            /// The op's attribute of that type, the first of several.
            pub fn attr<T: Any>(&self) -> Option<&T> {
                match self {
                    $( Op::$variant { $($attr),* } => {
                        let attrs: &[&dyn Any] = &[$($attr),*];
                        attrs.iter().find_map(|attr| attr.downcast_ref())
                    } )+
                }
            }

            /// As [`attr`](Self::attr), to be changed.
            pub fn attr_mut<T: Any>(&mut self) -> Option<&mut T> {
                match self {
                    $( Op::$variant { $($attr),* } => {
                        let attrs: Vec<&mut dyn Any> = vec![$($attr),*];
                        attrs.into_iter().find_map(|attr| attr.downcast_mut())
                    } )+
                }
            }

            /// Appends `{attr = value, …}`, or nothing for an op without attributes.
            pub fn print_attrs(&self, out: &mut String) {
                match self {
                    $( Op::$variant { $($attr),* } => {
                        let fields: &[text::Field<'_>] = &[$( (stringify!($attr), Attr::implied().as_ref() == Some($attr), &|o: &mut String| Attr::print($attr, o)) ),*];
                        text::print_fields(fields, out);
                    } )+
                }
            }

            /// Reads the attributes of the op of that name, in the order in which they are printed.
            pub fn parse_attrs(name: &str, lexer: &mut Lexer<'_>) -> Result<Op, ParseError> {
                match name {
                    $( $name => {
                        #[allow(unused_mut, unused_variables)]
                        let mut fields = text::FieldReader::new(lexer);
                        $( let $attr = fields.read::<$ty>(stringify!($attr))?; )*
                        fields.end()?;
                        Ok(Op::$variant { $($attr),* })
                    } )+
                    _ => Err(lexer.error(format!("there is no op named `{name}`"))),
                }
            }
        }
    };
}
pub(crate) use op_table;
