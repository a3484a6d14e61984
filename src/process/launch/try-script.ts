import { execFile, spawn } from 'node:child_process';

/** Resolves to whether the script exits with 0 in time, with an empty environment. Never rejects. */
export function tryScript(script: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: {}, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    execFile('/bin/sh', ['-c', script], options, (error) => resolve(error === null));
  });
}

/** Resolves to an empty set without git or a repository. Never rejects. */
export function listIgnored(folder: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    const options = { cwd: folder, timeout: GIT_TIMEOUT_MS, maxBuffer: 2 ** 28 };
    const child = execFile('git', ['check-ignore', '-z', '--stdin'], options, (_error, stdout) =>
      // git exits with 1 if nothing is ignored, and with 128 on an error.
      resolve(new Set(stdout.split('\0').filter((path) => path !== ''))),
    );
    // git may exit before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(paths.map((path) => `${path}\0`).join(''));
  });
}

const GIT_TIMEOUT_MS = 30_000;

/**
 * Opens a file with the program that the user has for it. Resolves to whether there is one. The program stays when this
 * process ends. Never rejects.
 */
export function openFile(file: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, file], { env, stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
    child.unref();
    // Some programs end with the browser.
    setTimeout(resolve, STARTED_MS, true).unref();
  });
}

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};
const STARTED_MS = 3_000;

/** Starts a program that outlives this process and its terminal. Reports no failure. */
export function startDetached(
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const child = spawn(command, args, { env, cwd: '/', stdio: 'ignore', detached: true });
  child.once('error', () => {});
  child.unref();
}
