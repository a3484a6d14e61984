import { RuntimeError } from '../base/errors.ts';

/** The values of an option that may be given again. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Labels from NAME=VALUE options. Throws USAGE. */
export function readLabelFlags(given: readonly string[] | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const labels = new Map<string, string>();
  for (const label of given) {
    const end = label.indexOf('=');
    if (end < 1) {
      throw new RuntimeError('USAGE', `--label takes NAME=VALUE, not "${label}"`, {
        hint: 'Write it like --label order=A-17.',
      });
    }
    const name = label.slice(0, end);
    if (labels.has(name)) throw new RuntimeError('USAGE', `--label ${name} is given twice`);
    labels.set(name, label.slice(end + 1));
  }
  return Object.fromEntries(labels);
}
