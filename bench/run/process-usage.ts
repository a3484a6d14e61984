import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks per second in /proc: 100 on every Linux that Node supports. */
const ticks = 100;

/** CPU time so far, of this process and of its children. Running children are included if /proc lists them. */
export function cpuSeconds(): { own: number; children: number } {
  const { user, system } = process.cpuUsage();
  return { own: (user + system) / 1e6, children: ofEndedChildren() + ofLivingChildren() };
}

/** Resets `peakMb`. Does nothing if the kernel does not support it. */
export function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {}
}

/** Peak resident memory of this process. */
export function peakMb(): number {
  const line = /^VmHWM:\s+(\d+) kB$/mu.exec(read('/proc/self/status'));
  return line === null ? process.resourceUsage().maxRSS / 1024 : Number(line[1]) / 1024;
}

function ofEndedChildren(): number {
  const [, , cutime = 0, cstime = 0] = timesOf('self');
  return cutime + cstime;
}

function ofLivingChildren(): number {
  return childrenOf(process.pid)
    .flatMap(timesOf)
    .reduce((sum, time) => sum + time, 0);
}

/** CPU time so far of another process, of its children, and of theirs. */
export function cpuSecondsOf(pid: number | string): number {
  const below = childrenOf(pid).reduce((sum, child) => sum + cpuSecondsOf(child), 0);
  return timesOf(String(pid)).reduce((sum, time) => sum + time, below);
}

/** Each thread has its own children. */
function childrenOf(pid: number | string): string[] {
  return threadsOf(pid)
    .flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter((child) => child !== '');
}

function threadsOf(pid: number | string): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** utime, stime, cutime and cstime: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function timesOf(pid: string): number[] {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' ? [] : fields.slice(11, 15).map((field) => Number(field) / ticks);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
