import { closeSync, constants, existsSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { isUnknownFormat } from '../../base/files/program-format.ts';
import { makeTempFolder, sweepTempFolders } from '../../base/files/temp-folder.ts';
import type { ExitStatus, LaunchedProcess, Launcher, LaunchListener, LaunchRequest } from './launch.ts';
import { keepNodeAlive, streamOutput } from './system/outputs.ts';

/** On Linux, Node's pipes are sockets, which a child cannot open as /dev/stdout. FIFOs replace them. */
export function createPortableLauncher(): Launcher {
  return process.platform === 'linux' ? launchWithFiles : launchWithPipes;
}

async function launchWithFiles(request: LaunchRequest, watch?: LaunchListener): Promise<LaunchedProcess> {
  const opened: number[] = [];
  const track = <Ends extends { readonly parentEnd: number; readonly childEnd: number }>(
    ends: Ends,
  ): Ends => {
    opened.push(ends.parentEnd, ends.childEnd);
    return ends;
  };
  try {
    const { input, command } = request;
    // Node's execvp would pass an unknown format to a shell.
    if (isUnknownFormat(command)) throw new Error(`spawn ${command} ENOEXEC`);
    const stdin = input === null ? track(await openInputFifo()) : undefined;
    const stdinFd = stdin?.childEnd ?? openInputFile(input ?? new Uint8Array());
    if (stdin === undefined) opened.push(stdinFd);
    const stdout = track(await openOutputFifo());
    const stderr = track(await openOutputFifo());
    const started = start(
      request,
      [descriptor(stdinFd), descriptor(stdout.childEnd), descriptor(stderr.childEnd)],
      watch?.starting(`${stdout.path} (deleted)`),
    );
    await started.spawned;
    for (const fd of [stdinFd, stdout.childEnd, stderr.childEnd]) closeSync(fd);
    const writable =
      stdin && ignoreWriteErrors(new Socket({ fd: stdin.parentEnd, readable: false, writable: true }));
    const [out, err] = [stdout, stderr].map(
      ({ parentEnd: fd }) => new Socket({ fd, readable: true, writable: false }),
    );
    return launchedFrom(started, [writable ?? null, requirePart(out), requirePart(err)]);
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

async function launchWithPipes(request: LaunchRequest, watch?: LaunchListener): Promise<LaunchedProcess> {
  const started = start(request, ['pipe', 'pipe', 'pipe'], watch?.starting(''));
  await started.spawned;
  const { stdin, stdout, stderr } = started.subprocess;
  const writable = ignoreWriteErrors(requirePart(stdin));
  if (request.input !== null) writable.end(request.input);
  return launchedFrom(started, [writable, requirePart(stdout), requirePart(stderr)]);
}

function launchedFrom(
  { subprocess, ended, pid }: Started,
  [stdin, stdout, stderr]: readonly [Writable | null, Readable, Readable],
): LaunchedProcess {
  return {
    ...{ pid: pid(), ended, stdin, stdout: streamOutput(stdout), stderr: streamOutput(stderr) },
    keepAlive: (keeps) => {
      for (const part of [subprocess.nodeChildProcess, stdin, stdout, stderr]) keepNodeAlive(part, keeps);
    },
  };
}

type Started = ReturnType<typeof start>;

/** execa accepts any descriptor, but its types name only the first few. */
type Descriptor = 3;
type StandardStream = Descriptor | 'pipe';

function descriptor(fd: number): Descriptor {
  return fd as Descriptor;
}

function start(
  request: LaunchRequest,
  standard: readonly [StandardStream, StandardStream, StandardStream],
  reportStart: ReturnType<LaunchListener['starting']> | undefined,
) {
  const [stdin, stdout, stderr] = standard;
  const subprocess = execa(request.command, request.args, {
    cwd: request.cwd,
    env: { ...request.env },
    extendEnv: false,
    // Leads its own group, which `process.ts` ends.
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    stdio: [stdin, stdout, stderr, ...(request.descriptors ?? []).map(descriptor)],
  });
  reportStart?.(subprocess.pid ?? null);
  const spawned = new Promise<void>((resolve, reject) => {
    subprocess.nodeChildProcess.once('spawn', () => resolve());
    subprocess.nodeChildProcess.once('error', reject);
    // Only execa's result reports what the system rejects at once, such as too long arguments.
    subprocess.then((result) => reject(result.cause ?? new Error(result.shortMessage)), reject);
  });
  const ended = new Promise<ExitStatus>((resolve) => {
    subprocess.nodeChildProcess.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  return { subprocess, spawned, ended, pid: () => requirePart(subprocess.pid) };
}

function ignoreWriteErrors<Stream extends Writable>(stream: Stream): Stream {
  // A child that does not read its stdin is not an error.
  stream.on('error', () => {});
  return stream;
}

function requirePart<Part extends Readable | Writable | number>(part: Part | null | undefined): Part {
  if (part === null || part === undefined)
    throw new Error('the process was started without its standard streams');
  return part;
}

interface FifoEnds {
  readonly parentEnd: number;
  readonly childEnd: number;
}

async function openInputFifo(): Promise<FifoEnds> {
  const path = await takeFifoPath();
  // Opening one end alone blocks until the other opens; O_RDWR does not.
  const both = openSync(path, constants.O_RDWR);
  try {
    const childs = openSync(path, constants.O_RDONLY);
    const ours = openSecondEnd(path, constants.O_WRONLY | constants.O_NONBLOCK, childs);
    return { parentEnd: ours, childEnd: childs };
  } finally {
    closeSync(both);
    unlinkSync(path);
  }
}

async function openOutputFifo(): Promise<FifoEnds & { readonly path: string }> {
  const path = await takeFifoPath();
  try {
    const ours = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const childs = openSecondEnd(path, constants.O_WRONLY, ours);
    return { parentEnd: ours, childEnd: childs, path };
  } finally {
    unlinkSync(path);
  }
}

function openSecondEnd(path: string, flags: number, first: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    closeSync(first);
    throw error;
  }
}

function openInputFile(content: Uint8Array): number {
  const path = join(folder(), `input-${counter++}`);
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  try {
    return openSync(path, constants.O_RDONLY);
  } finally {
    unlinkSync(path);
  }
}

/** mkfifo is a program rather than a Node function, so one start creates many. */
const BATCH = 48;

let counter = 0;
let madeFolder: string | undefined;
let fifoBatch: Promise<string[]> | undefined;

async function takeFifoPath(): Promise<string> {
  for (;;) {
    fifoBatch ??= makeFifos();
    const taken = fifoBatch;
    const path = (await taken).pop();
    if (path !== undefined && existsSync(path)) return path;
    if (path === undefined && fifoBatch === taken) fifoBatch = undefined;
  }
}

async function makeFifos(): Promise<string[]> {
  // A killed program leaves its folder behind, and short-lived programs never sweep later.
  if (madeFolder === undefined) await sweepTempFolders();
  const paths = Array.from({ length: BATCH }, () => join(folder(), `pipe-${counter++}`));
  try {
    await execa('mkfifo', ['-m', '600', ...paths]);
  } catch (error) {
    fifoBatch = undefined;
    throw error;
  }
  return paths;
}

function folder(): string {
  if (madeFolder === undefined || !existsSync(madeFolder)) madeFolder = makeTempFolder('pipes');
  return madeFolder;
}
