import { readFileSync } from 'node:fs';
import { bundle } from 'lightningcss';
import { defineConfig, type Plugin } from 'rolldown';

/** The report page as `dist/report-page.js`: its scripts in one, its style sheets in one, both as texts. */
export default defineConfig({
  input: 'src/suite/report/html/page/main.ts',
  output: { file: 'dist/report-page.js', minify: true },
  plugins: [asTexts()],
});

function asTexts(): Plugin {
  return {
    name: 'as-texts',
    generateBundle(_options, files) {
      const style = bundle({
        filename: 'src/suite/report/html/style/style.css',
        minify: true,
      }).code.toString();
      for (const file of Object.values(files)) {
        if (file.type !== 'chunk') continue;
        const script = `/*! diff\n${readFileSync('node_modules/diff/LICENSE', 'utf8')}*/\n${file.code}`;
        if (/<\/script|<!--/i.test(script)) this.error('the script would end where it says so in a text');
        file.code = `export const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(style)};\n`;
      }
    },
  };
}
