import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { nearFileHint } from '../../files/near-file.ts';
import { parseDocument, type YamlDocument } from '../../yaml/document.ts';
import { requireLoaded } from '../../yaml/problem.ts';
import { collectNotes } from '../suite-import/notes.ts';
import { openSourceFiles, textOfFile } from '../suite-import/source-files.ts';
import { type SuiteImport, toSuiteImport } from '../suite-import/suite-import.ts';
import { openTemplates } from './nunjucks/templates.ts';
import { readConfig } from './read-config.ts';
import { writtenFiles } from './written/written-files.ts';

/**
 * Reads a promptfooconfig and makes a runtime, cases and suites of it, to be written to `output`; nothing is written yet.
 * Throws FILE_UNREADABLE, and CONFIG_INVALID for a text that is no YAML or JSON.
 */
export async function importPromptfoo(file: string, output: string): Promise<SuiteImport> {
  const { value, keyPositionOf } = openConfig(file);
  const notes = collectNotes();
  const nunjucks = openTemplates();
  const files = openSourceFiles(dirname(resolve(file)), output, notes);
  const config = await readConfig(notes.open(value, keyPositionOf), { files, notes, nunjucks }).finally(() =>
    nunjucks.end(),
  );
  if (config.prompts.length * config.providers.length > mostPairs)
    throw new RuntimeError('CONFIG_INVALID', `${file} asks for more than ${mostPairs} pairs`, {
      hint: 'A pair of a prompt and a provider is a variant: import the config in parts.',
    });
  return toSuiteImport(writtenFiles(config), config.cases.length, notes.all());
}

const mostPairs = 1000;

function openConfig(file: string): YamlDocument {
  if (!existsSync(file))
    throw new RuntimeError('FILE_UNREADABLE', `${file} does not exist`, { hint: nearFileHint(file) });
  if (/\.[cm]?[jt]s$/.test(file)) {
    const hint = 'Print it as JSON once, and import that.';
    throw new RuntimeError('CONFIG_INVALID', `${file} is a program, and no YAML or JSON`, { hint });
  }
  const text = textOfFile(file, largestConfig);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const document = parseDocument(file, text);
  requireLoaded(file, document.value, document.problems);
  return document;
}

/** Bytes; what a parser of YAML reads within seconds. */
const largestConfig = 16 * 1024 * 1024;
