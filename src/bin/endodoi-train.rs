//! The program `endodoi-train`: self-play training from the command line.

fn main() -> std::process::ExitCode {
    endodoi::train::main()
}
