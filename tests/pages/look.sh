#!/usr/bin/env bash
# Looks at the HTML pages in a real browser, without a window, at 400 and 1400 pixels, light and dark: nothing may be wider than the window,
# no script may fail, what the scripts add must be there, and the picture must grow when zoomed. Keeps the pictures.
#
#   tests/pages/look.sh PDSIM FOLDER     FOLDER gets the pages, and a PNG of each at each width
#
# Exit status: 0 the pages are good, 1 one is not, 77 there is no browser.
set -euo pipefail

pdsim=$1 folder=$2
browser=$(command -v chromium || command -v google-chrome || command -v chromium-browser || true)
[[ -n $browser ]] || { echo "no chromium here: the pages were not looked at"; exit 77; }

rm -rf "$folder" && mkdir -p "$folder"
"$pdsim" gallery unused_params barrier_hang --out "$folder/gallery"

# A page, at a width, in a scheme of colours: what a probe in it saw. It stands in a frame, because no browser's window is 400 pixels wide.
looked_at() {
  local page=$1 width=$2 scheme=$3 name=$4
  local probed="${page%.html}.probed.html" frame="${page%.html}.frame.html"
  # Counts errors from the first script on; measures when everything has run.
  python3 - "$page" "$probed" "$frame" "$width" <<'PYTHON'
import os, sys
page = open(sys.argv[1], encoding="utf-8").read()
first = "<script>window.failures = 0; addEventListener('error', () => ++failures)</script>"
last = """<script>addEventListener('load', () => {
  const tools = document.getElementById('tools') || document.getElementById('search');
  const button = document.querySelector('[data-zoom="2"]');
  const before = button && document.querySelector('.scroll svg').getBoundingClientRect().width;
  if (button) button.click();
  const line = [...document.querySelectorAll('line.message[data-key]')].pop();
  const sent = line && [...line.closest('svg').querySelectorAll('rect[data-key]')].find(bar => bar.dataset.key === line.dataset.key);
  if (sent) sent.dispatchEvent(new Event('mouseover', {bubbles: true}));
  const told = !button || !line || document.querySelectorAll('#detail .messages li').length > 0;
  const wider = button && document.querySelector('.scroll svg').getBoundingClientRect().width > before;
  parent.postMessage(['looked', innerWidth, document.documentElement.scrollWidth <= innerWidth ? 'fits' : 'too-wide',
    failures, tools && !tools.hidden ? 'tools' : 'no-tools', !button || wider ? 'zooms' : 'no-zoom', told ? 'messages' : 'no-messages'].join(' '), '*');
})</script>"""
open(sys.argv[2], "w", encoding="utf-8").write(page.replace("<head>", "<head>" + first, 1).replace("</body>", last + "</body>", 1))
open(sys.argv[3], "w").write("<!DOCTYPE html><title></title><body style='margin:0'><script>"
    "addEventListener('message', event => { document.title = event.data; })</script>"
    f"<iframe src='{os.path.basename(sys.argv[2])}' style='border:0;height:1200px;width:{sys.argv[4]}px'></iframe>")
PYTHON
  local flags=(--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync
    --user-data-dir="$folder/profile" --window-size="$width,1200" --hide-scrollbars)
  [[ $scheme == dark ]] && flags+=(--blink-settings=preferredColorScheme=0)
  "$browser" "${flags[@]}" --screenshot="$folder/$name-$width-$scheme.png" --dump-dom "file://$frame" 2>/dev/null |
    grep -o '<title>[^<]*</title>' | head -n 1
  rm -f "$probed" "$frame"
}

status=0
for page in gallery/index.html gallery/unused_params/broken/report.html; do
  for width in 400 1400; do
    for scheme in light dark; do
      name=$(basename "$page" .html)
      seen=$(looked_at "$(realpath "$folder/$page")" "$width" "$scheme" "$name")
      if [[ $seen =~ ^\<title\>looked\ $width\ fits\ 0\ tools\ zooms\ messages\</title\>$ ]]; then
        echo "good  $page at $width, $scheme"
      else
        echo "BAD   $page at $width, $scheme: ${seen:-nothing was shown}"
        status=1
      fi
    done
  done
done
exit $status
