import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { start, workspace } from '../command-line.ts';

const foldersOfDoctor = () => readdirSync(tmpdir()).filter((name) => name.startsWith('signalbox-doctor-'));

test('Ctrl-C ends the trials and removes their programs and files [DS-CHAOS-09]', async () => {
  const many = Array.from(
    { length: 60 },
    (_, index) => `  h${index}: {command: ./no.sh, hook: tool, phases: [before_execution]}\n`,
  );
  const cwd = workspace(`hooks:\n${many.join('')}`, { 'no.sh': '#!/bin/sh\n' });
  const { child, ran } = start(['doctor', '--chaos'], { cwd });
  while (foldersOfDoctor().length === 0 && child.exitCode === null) await sleep(20);
  child.kill('SIGINT');
  expect(await ran).toMatchObject({ code: 130, stdout: '' });
  expect(foldersOfDoctor()).toEqual([]);
}, 300_000);
