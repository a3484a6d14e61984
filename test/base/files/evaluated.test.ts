import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluatedArguments } from '../../../src/base/files/evaluated.ts';

/** Command lines that run CODE but not DATA. */
const forms = `sh -c CODE DATA
bash -euo pipefail -c CODE name DATA
zsh -lc CODE
fish --command CODE
pwsh -NoProfile -Command CODE CODE
powershell.exe -c CODE
cmd.exe /c CODE
python3.12 -I -c CODE DATA
pypy -Ic CODE
node --no-warnings -e CODE DATA
node --eval=CODE
tsx -e CODE
bun -e CODE
deno eval CODE
ruby -rjson -e CODE
perl -lane CODE DATA
perl -E CODE
php -r CODE
lua5.4 -e CODE
Rscript -e CODE
julia -E CODE
elixir --eval CODE
erl -noshell -eval CODE
osascript -e CODE
vim -c CODE
emacs --batch --eval CODE
awk -v x=DATA CODE DATA
gawk CODE
sed -n CODE DATA
sed -e CODE -e CODE DATA
jq --arg a DATA CODE DATA
yq CODE
env -S CODE
gdb -ex CODE
psql -c CODE
mysql --execute=CODE
sqlite3 DATA CODE
ssh -p 22 DATA CODE CODE
su -c CODE
script -c CODE
flock DATA -c CODE
watch CODE
parallel CODE
make CODE
npx -c CODE
npm exec -c CODE
nix-shell --run CODE
python3 tool.py -c DATA
bash tool.sh -c DATA
node tool.js -e DATA
jq -f DATA DATA
awk -f DATA DATA
curl -e DATA -c DATA
./tool --key DATA`
  .split('\n')
  .map((line) => line.split(' '));

const wrappers = [
  ...['', 'timeout -k 1 5', 'env A=1', 'nice -n 5', 'nohup', 'busybox', 'sudo -u x', 'xargs -0', 'setsid'],
  ...['docker run --rm image', 'kubectl exec pod --', 'uv run', 'stdbuf -oL', 'find . -exec', 'nsenter -t 1'],
].map((line) => line.split(' ').filter((word) => word !== ''));

test.each(forms)('%s: the program is known, however it is wrapped', (...form) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...wrappers), { maxLength: 3 }), (outer) => {
      const [command = '', ...args] = [...outer.flat(), ...form];
      const evaluated = evaluatedArguments(command, args);
      const wrong = args.filter(
        (word, at) =>
          (word.includes('CODE') && !evaluated.has(at)) || (word.includes('DATA') && evaluated.has(at)),
      );
      expect({ line: [command, ...args].join(' '), wrong }).toEqual({
        line: [command, ...args].join(' '),
        wrong: [],
      });
    }),
    { numRuns: 30 },
  );
});

test('an entrypoint of a container gets the arguments after the image', () => {
  const line = ['run', '--entrypoint', 'sh', 'image', '-c', 'CODE'];
  expect(evaluatedArguments('docker', line)).toContain(5);
  expect(evaluatedArguments('docker', ['run', '--entrypoint=sh', 'image', '-c', 'CODE'])).toContain(4);
});
