import { execFile } from 'node:child_process';

/** Whether a line for a shell ends well, with no environment and within `timeoutMs`. Never rejects. */
export function tryScript(script: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: {}, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    execFile('/bin/sh', ['-c', script], options, (error) => resolve(error === null));
  });
}

/** The files and folders, relative to `folder`, that git ignores there; none without git or a repository. Never rejects. */
export function listIgnored(folder: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    const options = { cwd: folder, timeout: GIT_TIMEOUT_MS, maxBuffer: 2 ** 28 };
    const child = execFile('git', ['check-ignore', '-z', '--stdin'], options, (_error, stdout) =>
      // It exits with 1 where nothing is ignored, and with 128 where nobody can tell.
      resolve(new Set(stdout.split('\0').filter((path) => path !== ''))),
    );
    // It may be over before it has read all.
    child.stdin?.on('error', () => {});
    child.stdin?.end(paths.map((path) => `${path}\0`).join(''));
  });
}

const GIT_TIMEOUT_MS = 30_000;
