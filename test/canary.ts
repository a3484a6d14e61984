import { spawnSync } from 'node:child_process';

/** The name of a secret that stands in the environment of all tests, so that whatever writes down what it finds there is seen. */
export const canaryName = 'DESK_KEY';
/** Its value, which nothing may write down but what a test allows. */
export const canary = 'sk-desk-4f9A+x/Qm2Zr8kTb7Lw1';

/** Every piece of eight characters of the secret, as it is, in hexadecimal digits and in Base64 wherever it begins. */
const canaryPieces: readonly string[] = [
  canary,
  Buffer.from(canary).toString('hex'),
  ...[0, 1, 2].map(encoded),
].flatMap((text) => Array.from({ length: text.length - 7 }, (_, at) => text.slice(at, at + 8)));

function encoded(shift: number): string {
  const text = Buffer.from('x'.repeat(shift) + canary).toString('base64');
  return text.slice(Math.ceil((shift * 8) / 6), -2).replace(/=.*/, '');
}

/** What of the secret can be read in a text. */
export function canaryIn(text: string): string[] {
  const whole = text.replaceAll(/\r?\n|\\n/g, '');
  return canaryPieces.filter((piece) => whole.includes(piece));
}

/** Lets a file hold the secret: one that the test itself wrote, or that the documentation says holds it. */
export function allowCanaryIn(file: string): void {
  allowed.add(file);
}

const allowed = new Set<string>();

/** The files of a folder, and of those in it, that hold a piece of the secret and may not. */
export function filesWithCanary(folder: string): string[] {
  return filesWith(canaryPieces, folder).filter((file) => !allowed.has(file));
}

/** The files of a folder, and of those in it, that hold one of these texts; what is larger than any output is not read. */
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
