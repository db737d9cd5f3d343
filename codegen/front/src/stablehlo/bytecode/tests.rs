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
        let bytes = if name.ends_with(".jaxexport") {
            jax_payload(&bytes).unwrap()
        } else if name.ends_with(".mlirbc") {
            &bytes
        } else {
            continue;
        };
        n += 1;
        let mut file = file::File::open(bytes).unwrap();
        let t = file.allowance.left();
        match file.module() {
            Ok(m) => {
                if name.contains("affine_relu.vhlo") {
                    println!("{m:?}");
                    for f in &m.functions {
                        for o in &f.body.operations {
                            println!("{} {}", o.name, o.place)
                        }
                    }
                }
            }
            Err(e) => println!("{name}: {}", Error::from(e)),
        }
        let all = bytes.len() * 16 + (4<<20);
        let u = (all - t, t - file.allowance.left());
        println!(
            "USED {name} tables {:.2} ir {:.2}",
            u.0 as f64 / bytes.len() as f64,
            u.1 as f64 / bytes.len() as f64
        );
    }
    println!("{n}");
}
