import type { YamlDocument } from '../../yaml/document.ts';
import { entriesAt, textAt } from '../../yaml/read.ts';

/** What an entry’s sandbox comes to. */
export type Sandbox =
  | { readonly status: 'direct' }
  | { readonly status: 'undeclared'; readonly reason: string }
  /** Declared, but nothing this version can start a process in. */
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
