import type { SandboxMark } from '../../contract/exchange.ts';
import type { Sandbox } from '../binding/sandbox.ts';

/** What a failed process of a sandbox is told with: the sandbox, and the key to change where its last words say what it was kept from. */
export function markSandbox(
  sandbox: Sandbox,
  { stdout, stderr }: { readonly stdout: Uint8Array; readonly stderr: string },
): SandboxMark {
  const { name, mode } = sandbox;
  const words = `${Buffer.from(stdout.subarray(0, WORDS)).toString()}\n${stderr.slice(-WORDS)}`;
  const hint = findHint(sandbox, words);
  return hint === undefined ? { name, mode } : { name, mode, hint };
}

const WORDS = 4096;

/** How the system, C, Python, Node and common programs say it. */
const network =
  /ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|EAI_AGAIN|ENOTFOUND|getaddrinfo|network is unreachable|connection refused|name resolution|name or service not known|could not resolve host|fetch failed/i;
const write = /EROFS|read-only file system/i;
const read =
  /ENOENT|EACCES|no such file or directory|permission denied|cannot find module|no module named|not found|cannot open shared object/i;

/** The first of network, write and read that is kept away and that the words are about. */
function findHint(sandbox: Sandbox, words: string): string | undefined {
  if (sandbox.mode !== 'bubblewrap') return undefined;
  const { name } = sandbox;
  const place = `spec.sandboxes.${name}`;
  if (!sandbox.network && network.test(words))
    return `Its sandbox "${name}" has no network: \`network: true\` in ${place} gives it that of this machine.`;
  if (write.test(words))
    return `Its sandbox "${name}" lets it write to /tmp and to what \`write\` of ${place} names: add the path there.`;
  if (read.test(words))
    return `Its sandbox "${name}" shows it the system’s programs, the folder of the config file and what \`read\` of ${place} names: if it misses a file, add it there.`;
  return undefined;
}
