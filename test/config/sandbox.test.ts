import { expect, test } from 'vitest';
import { resolveSandbox } from '../../src/runtime/binding/resolve-sandbox.ts';
import { configText, native, promptkit, told } from './told.ts';

const tool = '\ntools: {t: {exec: {command: sh, sandbox: box}}}';
const tilde =
  'must be an absolute path, or one relative to this file’s folder: ~ is not expanded (got: ~/data)';

test.each([
  {
    title: 'a path with ~',
    box: '{mode: bubblewrap, read: [~/data]}',
    says: `read[0]: ${tilde} | Write out the path of the home folder.`,
  },
  {
    title: 'a network that is a name',
    box: '{mode: bubblewrap, network: none}',
    says: 'network: must be true or false, not the string "none"',
  },
  {
    title: 'a misspelt key',
    box: '{mode: bubblewrap, wirte: [out]}',
    says: 'wirte: unknown key | did you mean `write`?',
  },
  { title: 'a key of another mode', box: '{mode: bubblewrap, image: x}', says: 'image: unknown key' },
  { title: 'an image that is missing', box: '{mode: docker_run}', says: 'image: is required' },
  {
    title: 'no command',
    box: '{mode: command, args: [run]}',
    says: 'mode: mode command needs a command or a prefix',
  },
  {
    title: 'a command twice',
    box: '{mode: command, command: env, prefix: [env]}',
    says: 'prefix: command and prefix cannot be combined',
  },
  {
    title: 'flags without a place',
    box: '{mode: command, command: x, env_flag: -e}',
    says: 'env_flag: flags for variables need an item ${env} among the arguments',
  },
])('$title is an error, in PromptKit’s files a warning', ({ box, says }) => {
  const spec = `\nsandboxes: {box: ${box}}${tool}`;
  const strict = told(configText(native, spec));
  expect(strict.config).toBeUndefined();
  expect(strict.problems.join('\n')).toContain(`sandboxes[box].${says.split(' | ')[0]}`);
  expect(strict.problems.join('\n')).toContain(says.split(' | ')[1] ?? '');
  const { config, problems } = told(configText(promptkit, spec));
  expect(config).toBeDefined();
  expect(problems.join('\n')).toContain(`sandboxes[box].${says.split(' | ')[0]}`);
});

function resolved(box: string, PATH = '/usr/bin:/bin') {
  const { config } = told(configText(promptkit, `\nsandboxes: {box: ${box}}${tool}`));
  if (config === undefined) throw new Error('it does not load');
  return resolveSandbox('box', { config, host: { PATH }, cwd: config.folder, env: [], variables: {} });
}

test('an unusable sandbox of a PromptKit file refuses, and is never omitted', () => {
  const faulty = [
    '{mode: docker_run, image: 5}',
    '{mode: docker_exec}',
    '{mode: gaol}',
    '{mode: bubblewrap, read: x}',
    '{mode: bubblewrap, network: "off"}',
  ];
  expect(faulty.map((box) => resolved(box)?.mode)).toEqual(faulty.map(() => 'refused'));
});

test('PromptKit’s modes start the command lines of its examples, with the arguments for variables and the end', () => {
  const client = '/usr/bin/env';
  const path = (key: string) => `${key}: ${client}`;
  const lines = [
    `{mode: docker_run, image: i, network: none, mounts: ["./a:/a:ro"], extra_args: [--cpus=1], ${path('docker_path')}}`,
    `{mode: docker_exec, container: c, workdir: /w, user: u, extra_args: [--privileged], ${path('docker_path')}}`,
    `{mode: kubectl_exec, pod: p, namespace: n, container: c, kubeconfig: /k, context: x, extra_args: [-q], ${path('kubectl_path')}}`,
  ].map((box) => resolved(box));
  expect(lines.map((sandbox) => (sandbox?.mode === 'command' ? sandbox.args.join(' ') : sandbox))).toEqual([
    'run --name signalbox-${id} ${env} --rm -i --network=none -v ./a:/a:ro --cpus=1 i',
    'exec -e SIGNALBOX_CALL=${id} ${env} -i --workdir=/w --user=u --privileged c',
    '--kubeconfig=/k --context=x exec -i -n n -c c -q p -- env SIGNALBOX_CALL=${id}',
  ]);
  const kills = lines.map((sandbox) => (sandbox?.mode === 'command' ? sandbox.kill?.slice(0, -2) : sandbox));
  const killer = ['sh', '-c', expect.stringContaining('/proc/[0-9]*')];
  expect(kills).toEqual([
    [client],
    [client, 'exec', '--workdir=/w', '--user=u', '--privileged', 'c', ...killer],
    [client, '--kubeconfig=/k', '--context=x', 'exec', '-n', 'n', '-c', 'c', '-q', 'p', '--', ...killer],
  ]);
});
