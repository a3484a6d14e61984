import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { ValidationSeverity, validate } from 'dockerfile-utils';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const files = globSync('examples/**/Dockerfile*', { cwd: root, absolute: true });

/** Treats every finding of the linter as an error. */
const strict = {
  ...{ deprecatedMaintainer: ValidationSeverity.ERROR, directiveCasing: ValidationSeverity.ERROR },
  ...{ emptyContinuationLine: ValidationSeverity.ERROR, instructionCasing: ValidationSeverity.ERROR },
  ...{
    instructionCmdMultiple: ValidationSeverity.ERROR,
    instructionEntrypointMultiple: ValidationSeverity.ERROR,
  },
  ...{ instructionHealthcheckMultiple: ValidationSeverity.ERROR },
  ...{
    instructionJSONInSingleQuotes: ValidationSeverity.ERROR,
    instructionWorkdirRelative: ValidationSeverity.ERROR,
  },
};

const lint = (text: string) =>
  validate(text, strict).map(({ range, message }) => `${range.start.line + 1} ${message}`);

test('there are Dockerfiles, and the linter finds what is wrong with one', () => {
  expect(files.length).toBeGreaterThan(0);
  expect(
    lint('FROM node:24-slim\nCOPPY . .\nWORKDIR app\nCMD [\'a\']\nCMD ["b"]\n').map((line) => line[0]),
  ).toEqual(expect.arrayContaining(['2', '3', '4']));
});

test.each(files)('%s has no mistakes, and copies existing files', (file) => {
  const text = readFileSync(file, 'utf8');
  expect(lint(text)).toEqual([]);
  const parsed = DockerfileParser.parse(text);
  const sources = parsed.getCOPYs().flatMap((copy) => {
    const words = copy.getArguments().map((argument) => argument.getValue());
    return copy.getFromFlag() === null ? words.slice(0, -1) : [];
  });
  expect(sources.length).toBeGreaterThan(0);
  expect(
    sources.filter(
      (source) =>
        globSync(source, { cwd: dirname(file), onlyFiles: false }).length === 0 &&
        !existsSync(join(dirname(file), source)),
    ),
  ).toEqual([]);
});

test.each(files)('%s runs as an unprivileged user, on the project’s major version of Node', (file) => {
  const parsed = DockerfileParser.parse(readFileSync(file, 'utf8'));
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [major] = String(devDependencies.node).match(/\d+/) ?? [];
  expect(parsed.getFROMs().map((from) => from.getImage())).toEqual([`node:${major}-slim`]);
  const users = parsed.getInstructions().filter((each) => each.getInstruction() === 'USER');
  expect(users.map((user) => user.getArgumentsContent())).toEqual(['node']);
});
