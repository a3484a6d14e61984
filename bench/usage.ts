import { spawn } from 'node:child_process';

/** The cost of a command with all child processes that it waited for. */
export interface Usage {
  readonly seconds: number;
  /** User and system time of the command and of all its child processes that exited before it. */
  readonly cpuSeconds: number;
  /** Peak resident memory of the largest process among them. */
  readonly peakMb: number;
  readonly stdout: string;
}

/** Calls wait4 in Python, because Node reports only its own usage. */
const watcher = `
import os, sys, time
begun = time.monotonic()
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
took = time.monotonic() - begun
print("\\n%f %f %d" % (took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss), file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
`;

export interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs a command and measures it. Throws if its exit code is not 0. */
export function runMeasured(command: readonly string[], place: Place): Promise<Usage> {
  const child = spawn('python3', ['-c', watcher, ...command], {
    ...place,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const [seconds = 0, cpuSeconds = 0, peakKb = 0] = (stderr.trim().split('\n').at(-1) ?? '')
        .split(' ')
        .map(Number);
      if (code === 0) resolve({ seconds, cpuSeconds, peakMb: peakKb / 1024, stdout });
      else reject(new Error(`${command.join(' ')} ended with ${code}: ${stdout}${stderr}`));
    });
  });
}
