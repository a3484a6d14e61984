/** Where a process runs instead of directly: all paths are absolute. */
export type Sandbox = BubblewrapSandbox | CommandSandbox | RefusedSandbox;

/** A view of this machine of its own, made by bubblewrap. */
export interface BubblewrapSandbox {
  readonly mode: 'bubblewrap';
  /** Its name in the file. */
  readonly name: string;
  /** The path of bwrap. */
  readonly program: string;
  /** Whether the network of the host is there. */
  readonly network: boolean;
  /** What may be read beside the system’s own folders: the folder of the config file among them. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** What other sandboxes of the config may write; links in it are not followed either. */
  readonly writtenElsewhere?: readonly string[];
  /** Files that stay read-only, though they may lie in what may be written: those of the config. */
  readonly fixed?: readonly string[];
  /** Files and folders that stay hidden, though they lie in what may be read. */
  readonly hide: readonly string[];
  /** Files with secrets: whatever has their names stays hidden, now and later. */
  readonly secrets?: readonly string[];
}

/** A program that the command is handed to, such as a client of containers. */
export interface CommandSandbox {
  readonly mode: 'command';
  readonly name: string;
  /** The path of the program. */
  readonly program: string;
  /** Its arguments before the command: `${id}` stands for a name of the call, an item `${env}` for `envFlag` with each name. */
  readonly args: readonly string[];
  /** How the variables of the entry go along; `stdin` needs a POSIX shell where the command runs. */
  readonly env: 'inherit' | 'flags' | 'stdin';
  readonly envFlag: string;
  /** Names that the entry gives itself, though every process has them. */
  readonly named: readonly string[];
  /** What the program itself reads of this process’s environment, and the command does not get. */
  readonly own: Readonly<Record<string, string>>;
  /** What ends the command where it runs, with `${id}`; null: the program does so when it is ended itself. */
  readonly kill: readonly string[] | null;
}

/** One that cannot be had, so that nothing may start. */
export interface RefusedSandbox {
  readonly mode: 'refused';
  readonly name: string;
  /** As the end of a sentence about the entry. */
  readonly reason: string;
}
