import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export function fixture(name: string): string {
  return join(import.meta.dirname, 'fixtures/bin', name);
}

/** A new folder with these files. Scripts (`#!`) are executable. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'work-'));
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (content.startsWith('#!')) chmodSync(path, 0o755);
  }
  return folder;
}

/** A new folder with a runtime.yaml of that `spec`, and other files. */
export function workspace(spec: string, files: Readonly<Record<string, string>> = {}): string {
  return folderOf({ 'runtime.yaml': config(spec), ...files });
}

export function config(spec: string, apiVersion = 'signalbox/v1'): string {
  return document('RuntimeConfig', spec, { name: 'desk', apiVersion });
}

export function suite(spec: string, name = 'demo'): string {
  return document('EvalSuite', spec, { name });
}

export function pipeline(spec: string, name = 'desk'): string {
  return document('Pipeline', spec, { name });
}

function document(
  kind: string,
  spec: string,
  { name, apiVersion = 'signalbox/v1' }: { readonly name: string; readonly apiVersion?: string },
): string {
  const head = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n`;
  return head + spec.replaceAll(/^(?=.)/gm, '  ');
}
