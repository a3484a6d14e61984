import type { YamlDocument } from '../../yaml/document.ts';
import { entriesAt, textAt } from '../../yaml/read.ts';

/** The result of looking up a sandbox. */
export type Sandbox =
  | { readonly status: 'direct' }
  | { readonly status: 'undeclared'; readonly reason: string }
  /** Declared with a mode that this version does not support. */
  | { readonly status: 'unsupported'; readonly reason: string };

/** Looks up a sandbox by name. */
export function findSandbox(document: YamlDocument, name: string): Sandbox {
  const entry = entriesAt(document, ['spec', 'sandboxes']).find((candidate) => candidate.name === name);
  if (!entry)
    return { status: 'undeclared', reason: `its sandbox "${name}" is not declared under spec.sandboxes` };
  const mode = textAt(document, [...entry.path, 'mode']);
  if (mode === 'direct') return { status: 'direct' };
  const what = mode ? `has mode ${mode}` : 'has no mode';
  return { status: 'unsupported', reason: `its sandbox "${name}" ${what}, and only direct is supported` };
}
