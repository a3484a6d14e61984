import { spawnSync } from 'node:child_process';

/** A secret in the environment of all tests, which reveals any output of the environment. */
export const canaryName = 'DESK_KEY';
/** Its value, which may only be written where a test allows it. */
export const canary = 'sk-desk-4f9A+x/Qm2Zr8kTb7Lw1';

/** Every eight-character piece of the secret, plain, in hexadecimal and in Base64 at each offset. */
const canaryPieces: readonly string[] = [
  canary,
  Buffer.from(canary).toString('hex'),
  ...[0, 1, 2].map(encoded),
].flatMap((text) => Array.from({ length: text.length - 7 }, (_, at) => text.slice(at, at + 8)));

function encoded(shift: number): string {
  const text = Buffer.from('x'.repeat(shift) + canary).toString('base64');
  return text.slice(Math.ceil((shift * 8) / 6), -2).replace(/=.*/, '');
}

export function canaryIn(text: string): string[] {
  const whole = text.replaceAll(/\r?\n|\\n/g, '');
  return canaryPieces.filter((piece) => whole.includes(piece));
}

/** Allows the secret in a file that the test wrote or that is documented to contain it. */
export function allowCanaryIn(file: string): void {
  allowed.add(file);
}

const allowed = new Set<string>();

/** Files below a folder that contain a piece of the secret without permission. */
export function filesWithCanary(folder: string): string[] {
  return filesWith(canaryPieces, folder).filter((file) => !allowed.has(file));
}

/** Files below a folder that contain one of these texts. Files larger than any output are skipped. */
export function filesWith(texts: readonly string[], folder: string): string[] {
  const search = ['grep', '-laF', ...texts.flatMap((text) => ['-e', text]), '--', '{}', '+'];
  const { stdout, error } = spawnSync(
    'find',
    [folder, '-type', 'f', '-size', '-200000k', '-exec', ...search],
    {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  );
  if (error !== undefined) throw error;
  return stdout.split('\n').filter((file) => file !== '');
}
