import { launchBrowser } from './browser.ts';
const [url = '', id = '', out = ''] = process.argv.slice(2);
const browser = await launchBrowser();
for (const width of [1440, 800]) {
  const page = await (await browser.newContext({ viewport: { width, height: 1100 } })).newPage();
  page.on('pageerror', (e) => console.log('error', e.message));
  await page.goto(url);
  await page.waitForTimeout(800);
  await page.screenshot({ path: `${out}/list-${width}.png` });
  await page.goto(`${new URL(url).origin}/runs/${id}#case=3`);
  await page.waitForTimeout(800);
  await page.getByText('Your rating').first().click();
  await page.getByText('Your rating').first().scrollIntoViewIfNeeded();
  await page.getByLabel('Score, 0 to 1').first().fill('0.5');
  await page.getByLabel('Comment').first().fill('a longer comment that goes over several lines, since the column is narrow');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.waitForTimeout(600);
  await page.screenshot({ path: `${out}/form-${width}.png` });
}
await browser.close();
