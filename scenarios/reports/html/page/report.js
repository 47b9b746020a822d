(() => {
  const detail = document.getElementById('detail');
  const show = bar => {
    for (const other of document.querySelectorAll('.linked')) other.classList.remove('linked');
    if (!bar || bar.tagName !== 'rect' || !bar.firstElementChild) return;
    detail.textContent = bar.firstElementChild.textContent;
    const key = bar.dataset.key;
    if (!key) return;
    for (const other of bar.closest('svg').querySelectorAll('[data-key]'))
      if (other.dataset.key === key) other.classList.add('linked');
  };
  for (const picture of document.querySelectorAll('svg.timeline')) {
    const bars = [...picture.querySelectorAll('rect[data-rank]')];
    const middle = bar => bar.x.baseVal.value + bar.width.baseVal.value / 2;
    const step = (bar, key) => {
      const row = bars.filter(other => other.dataset.rank === bar.dataset.rank);
      if (key === 'ArrowRight') return row[row.indexOf(bar) + 1];
      if (key === 'ArrowLeft') return row[row.indexOf(bar) - 1];
      if (key === 'Home') return row[0];
      if (key === 'End') return row[row.length - 1];
      const ranks = [...new Set(bars.map(other => other.dataset.rank))];
      const rank = ranks[ranks.indexOf(bar.dataset.rank) + (key === 'ArrowDown' ? 1 : -1)];
      const there = bars.filter(other => other.dataset.rank === rank);
      const same = there.find(other => bar.dataset.key && other.dataset.key === bar.dataset.key);
      return same || there.sort((a, b) => Math.abs(middle(a) - middle(bar)) - Math.abs(middle(b) - middle(bar)))[0];
    };
    if (bars.length) bars[0].tabIndex = 0;
    picture.addEventListener('mouseover', event => show(event.target));
    picture.addEventListener('focusin', event => show(event.target));
    picture.addEventListener('click', event => event.target.focus && event.target.focus());
    picture.addEventListener('keydown', event => {
      if (!/^(Arrow|Home|End)/.test(event.key) || !event.target.dataset.rank) return;
      const next = step(event.target, event.key);
      if (next) next.focus();
      event.preventDefault();
    });
  }
})();
