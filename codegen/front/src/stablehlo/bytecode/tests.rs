use super::*;
#[test]
fn corpus() {
    let Ok(models) = std::env::var("KILN_CORPUS") else { return };
    let folder = std::path::Path::new(&models).join("../conformance/frameworks/jax");
    let mut n = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(name.ends_with(".mlirbc"), is_bytecode(&bytes));
        assert_eq!(name.ends_with(".jaxexport"), is_jax_export(&bytes));
        let bytes = if name.ends_with(".jaxexport") { jax_payload(&bytes).unwrap() } else if name.ends_with(".mlirbc") { &bytes } else { continue };
        n += 1;
        match read(bytes) {
            Ok(m) => if name.starts_with("fn_affine_relu.vh") { println!("{m:#?}") },
            Err(e) => println!("{name}: {e}"),
        }
    }
    println!("{n}");
}
