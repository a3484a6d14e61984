import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';

const root = join(import.meta.dirname, '../..');

/** The reports in etc/, and the package.json export of each. */
export const entryPoints = {
  'signalbox.api.md': '.',
  'author.api.md': './author',
  'vitest.api.md': './vitest',
} as const;

/**
 * The declarations that are reachable from each entry point, without comments and in alphabetical order, by report
 * file. Throws if src does not compile.
 */
export function renderApiReports(): Record<string, string> {
  const project = mkdtempSync(join(tmpdir(), 'api-report-'));
  try {
    emitDeclarations(project);
    const mains = Object.entries(entryPoints).map(([report, entry]) => {
      return { report, config: prepare(project, report, mainOf(entry)) };
    });
    const additionalEntryPoints = mains.map(({ config }) => config.mainEntryPointFilePath);
    const compilerState = CompilerState.create(prepare(project, 'all', mainOf('.')), {
      additionalEntryPoints,
    });
    return Object.fromEntries(
      mains.map(({ report, config }) => [report, extract(config, compilerState, join(project, report))]),
    );
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function mainOf(entry: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports[entry].types;
}

function emitDeclarations(project: string): void {
  cpSync(join(root, 'package.json'), join(project, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const dist = join(project, 'dist');
  execFileSync(process.execPath, [compiler, '-p', root, '--emitDeclarationOnly', '--outDir', dist], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts')) nameModules(join(dist, file));
  }
}

/**
 * Names the namespace of `const load: () => Promise<typeof import("./x.ts")>`, because the extractor supports no module
 * types.
 */
function nameModules(file: string): void {
  const text = readFileSync(file, 'utf8');
  const imports: string[] = [];
  const body = text.replaceAll(
    /(declare const (\w+): .*)typeof import\(("\.[^"]+")\)/g,
    (_, before: string, name: string, specifier: string) => {
      imports.push(`import * as ${name}_module from ${specifier};\n`);
      return `${before}typeof ${name}_module`;
    },
  );
  if (imports.length > 0) writeFileSync(file, imports.join('') + body);
}

function prepare(project: string, report: string, main: string): ExtractorConfig {
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(project, 'package.json'),
    configObject: {
      projectFolder: project,
      mainEntryPointFilePath: join(project, main),
      newlineKind: 'lf',
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: report,
        reportFolder: project,
        reportTempFolder: join(project, 'temp'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      compiler: { overrideTsconfig: { compilerOptions, files: [main] } },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
  });
}

const compilerOptions = {
  module: 'nodenext',
  target: 'es2022',
  lib: ['esnext'],
  types: ['node'],
  strict: true,
  skipLibCheck: true,
};

function extract(config: ExtractorConfig, compilerState: CompilerState, report: string): string {
  const { errorCount } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: (message) => {
      if (message.category === 'console') message.handled = true;
    },
  });
  if (errorCount > 0) throw new Error(`the declarations of ${basename(report)} have errors`);
  return withSortedNamespaces(withoutComments(readFileSync(report, 'utf8')));
}

function withoutComments(report: string): string {
  return report.replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n|^ *\/\/ .*\n/gm, '');
}

function withSortedNamespaces(report: string): string {
  return report.replaceAll(/(?<=^ +export \{\n)[^}]*(?=\n +\})/gm, (members) => {
    return members.split(/,?\n/).toSorted().join(',\n');
  });
}
