//! All ranks of a virtual world, told as one.

use std::collections::HashMap;

use crate::event::cause;
use crate::{
    Buffer, Code, Context, Element, Error, Event, Executor, ExecutorOptions, Plan, Result, Run, Storage,
};
use crate::{TensorView, World, WorldOptions};

/// Runs a plan on virtual ranks in this process, with whole tensors: cuts inputs into pieces, runs
/// all ranks, and puts outputs together. After the first run of an entry, runs take no new memory.
///
/// State, such as parameters that executors keep, is set and read by its name.
pub struct Runner<'p> {
    plan: &'p Plan,
    executors: Vec<Executor>,
    pieces: HashMap<usize, Vec<Pieces>>,
    _world: World,
}

/// One rank's buffers for an entry.
#[derive(Default)]
struct Pieces {
    inputs: Vec<Option<Buffer>>,
    outputs: Vec<Option<Buffer>>,
}

/// What the last run of an entry gave.
pub struct Outputs<'r> {
    plan: &'r Plan,
    entry: usize,
    pieces: &'r [Pieces],
}

impl<'p> Runner<'p> {
    /// A world and executors for all ranks of a plan.
    pub fn new(context: &Context, plan: &'p Plan) -> Result<Self> {
        let world = World::virtual_ranks(context, plan.num_ranks(), &WorldOptions::default())?;
        Self::in_world(world, plan, |_| ExecutorOptions::default())
    }

    /// In a world of this process, with options for the executor of each rank.
    pub fn in_world(
        world: World,
        plan: &'p Plan,
        mut options: impl FnMut(usize) -> ExecutorOptions,
    ) -> Result<Self> {
        plan.check_ranks(world.local_ranks().len())?;
        let make = |rank| Executor::new(plan, &world, rank, options(rank));
        let executors = (0..plan.num_ranks()).map(make).collect::<Result<_>>()?;
        Ok(Self { plan, executors, pieces: HashMap::new(), _world: world })
    }

    /// The plan.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The executors, by rank.
    pub fn executors(&mut self) -> &mut [Executor] {
        &mut self.executors
    }

    /// Writes a tensor that the executors keep: "param.w".
    pub fn set_state(&mut self, name: &str, whole: TensorView<'_>) -> Result<()> {
        let port = self.plan.find_port(None, name)?;
        for (rank, executor) in self.executors.iter().enumerate() {
            self.plan.shard_into(port, rank, whole, &executor.state(port)?)?;
        }
        Ok(())
    }

    /// Reads a tensor that the executors keep, whole and row-major.
    pub fn state<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        let port = self.plan.find_port(None, name)?;
        let pieces =
            self.executors.iter().map(|executor| executor.state(port)).collect::<Result<Vec<_>>>()?;
        self.plan.gather(port, &pieces.iter().collect::<Vec<_>>())?.read()
    }

    /// One run of an entry on all ranks. `inputs` has every input that is handed over, by name; the
    /// error says which is missing or too many. Waits for the end.
    pub fn run(&mut self, entry: &str, inputs: &[(&str, TensorView<'_>)]) -> Result<Outputs<'_>> {
        let entry = self.plan.find_entry(entry)?;
        self.run_entry(entry, inputs)
    }

    /// The same by the entry's number, such as that of a bucket: [`Plan::choose_bucket`].
    pub fn run_entry(&mut self, entry: usize, inputs: &[(&str, TensorView<'_>)]) -> Result<Outputs<'_>> {
        self.place(entry, inputs)?;
        if let Err(why) = self.run_ranks(entry) {
            self.executors.iter_mut().for_each(Executor::reset);
            self.pieces.remove(&entry); // an output of a failed run may be missing
            return Err(why);
        }
        Ok(Outputs { plan: self.plan, entry, pieces: &self.pieces[&entry] })
    }

    /// Cuts the inputs, into the pieces of the last run where there was one.
    fn place(&mut self, entry: usize, inputs: &[(&str, TensorView<'_>)]) -> Result<()> {
        let info = self.plan.entry(entry)?;
        let refuse = |why: String| Err(Error::new(Code::InvalidArgument, why));
        let names = info.inputs.iter().map(|&port| self.plan.port(port)).collect::<Result<Vec<_>>>()?;
        for (number, (name, _)) in inputs.iter().enumerate() {
            if !names.iter().any(|port| port.name == *name && port.storage != Storage::State) {
                let known = names.iter().map(|port| port.name).collect::<Vec<_>>().join(", ");
                return refuse(format!("entry '{}' has no input '{name}'; it has {known}", info.name));
            }
            if inputs[..number].iter().any(|(before, _)| before == name) {
                return refuse(format!("input '{name}' is given twice"));
            }
        }
        let ranks = self.executors.len();
        let pieces =
            self.pieces.entry(entry).or_insert_with(|| (0..ranks).map(|_| Pieces::default()).collect());
        for (rank, pieces) in pieces.iter_mut().enumerate() {
            pieces.inputs.resize_with(names.len(), || None);
            for (index, port) in names.iter().enumerate() {
                let given = inputs.iter().find(|(name, _)| *name == port.name);
                let number = info.inputs[index];
                pieces.inputs[index] = match (given, pieces.inputs[index].take()) {
                    (None, _) if port.present => return refuse(format!("input '{}' is missing", port.name)),
                    (Some((_, whole)), Some(piece)) => {
                        self.plan.shard_into(number, rank, *whole, &piece)?;
                        Some(piece)
                    }
                    (Some((_, whole)), None) if port.present => {
                        Some(self.plan.shard(number, rank, *whole, self.executors[rank].device())?)
                    }
                    _ => None,
                };
            }
        }
        Ok(())
    }

    fn run_ranks(&mut self, entry: usize) -> Result<()> {
        let pieces = self.pieces.get_mut(&entry).expect("place() has made them");
        let (mut events, mut errors): (Vec<Event>, Vec<Error>) = (Vec::new(), Vec::new());
        for (executor, pieces) in self.executors.iter_mut().zip(pieces.iter_mut()) {
            let inputs: Vec<_> = pieces.inputs.iter().map(Option::as_ref).collect();
            let given: Vec<_> = pieces.outputs.iter().map(Option::as_ref).collect();
            let mut run = Run::new(entry).optional_inputs(&inputs);
            if !given.is_empty() {
                run = run.outputs(&given);
            }
            match executor.enqueue(run) {
                Ok((event, made)) => {
                    events.push(event);
                    if pieces.outputs.is_empty() {
                        pieces.outputs = made;
                    }
                }
                Err(why) => {
                    executor.abort(); // the ranks that run would wait for this one
                    errors.push(why);
                    break;
                }
            }
        }
        errors.extend(events.iter().filter_map(|event| event.wait().err()));
        cause(errors).map_or(Ok(()), Err)
    }
}

impl Outputs<'_> {
    /// Names of the outputs that are present.
    pub fn names(&self) -> Result<Vec<&str>> {
        let present = |&port: &usize| match self.plan.port(port) {
            Ok(port) => port.present.then_some(Ok(port.name)),
            Err(why) => Some(Err(why)),
        };
        self.plan.entry(self.entry)?.outputs.iter().filter_map(present).collect()
    }

    /// An output, whole, row-major, on the CPU.
    pub fn gather(&self, name: &str) -> Result<Buffer> {
        let port = self.plan.find_port(Some(self.entry), name)?;
        let entry = self.plan.entry(self.entry)?;
        let missing = || Error::new(Code::NotFound, format!("'{name}' is no output that is present"));
        let index = entry.outputs.iter().position(|&output| output == port).ok_or_else(missing)?;
        let pieces: Option<Vec<&Buffer>> =
            self.pieces.iter().map(|pieces| pieces.outputs[index].as_ref()).collect();
        self.plan.gather(port, &pieces.ok_or_else(missing)?)
    }

    /// A copy of an output's elements, whole and row-major.
    pub fn read<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        self.gather(name)?.read()
    }
}
