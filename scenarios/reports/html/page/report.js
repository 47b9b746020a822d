(() => {
  const detail = document.getElementById('detail');
  const show = bar => {
    for (const other of document.querySelectorAll('.linked')) other.classList.remove('linked');
    if (!bar || bar.tagName !== 'rect' || !bar.firstElementChild) return;
    detail.textContent = bar.firstElementChild.textContent;
    const key = bar.dataset.key;
    if (!key) return;
    const messages = [];
    for (const other of bar.closest('svg').querySelectorAll('[data-key]')) {
      if (other.dataset.key !== key && other.dataset.toKey !== key) continue;
      other.classList.add('linked');
      if (other.classList.contains('message')) messages.push(other.firstElementChild.textContent);
    }
    if (messages.length) detail.append(listed(messages));
  };
  // Who sent what to whom, when.
  const most = 24;
  const listed = messages => {
    const list = document.createElement('ul');
    list.className = 'messages';
    const rest = messages.length - most;
    for (const text of [...messages.slice(0, most), ...(rest > 0 ? ['and ' + rest + ' more'] : [])])
      list.appendChild(document.createElement('li')).textContent = text;
    return list;
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
  const boxes = [...document.querySelectorAll('.scroll')];
  let zoom = 1;
  // The point of the picture in the middle of its box stays there.
  const zoomTo = factor => {
    const next = Math.min(32, Math.max(1, zoom * factor));
    for (const box of boxes) {
      const middle = (box.scrollLeft + box.clientWidth / 2) * next / zoom;
      const whole = Math.max(1000, box.clientWidth);  // as wide as the style has it without zoom
      box.querySelector('svg').style.width = next === 1 ? '' : next * whole + 'px';
      box.scrollLeft = middle - box.clientWidth / 2;
    }
    zoom = next;
  };
  const first = selector => {
    for (const box of boxes) {
      const found = box.offsetParent && box.querySelector(selector);
      if (found) return found;
    }
  };
  const holds = (ranks, wanted) => ranks.split(', ').some(part => {
    const [from, to] = part.split('..').map(Number);
    return from <= wanted && wanted <= (to === undefined ? from : to);
  });
  const showRank = text => {
    const wanted = text.trim() === '' ? null : Number(text);
    for (const picture of document.querySelectorAll('svg.timeline')) {
      const rows = [...picture.querySelectorAll('rect.row')];
      const row = wanted === null ? null : rows.find(other => holds(other.dataset.ranks, wanted));
      const shown = row && row.dataset.ranks.split(/[.,]/)[0];
      for (const part of picture.querySelectorAll('rect[data-rank], rect.row, line.braid, line.message'))
        part.classList.toggle('dim', !!row && part !== row && part.dataset.rank !== shown);
      if (row && picture.getBoundingClientRect().width) row.scrollIntoView({block: 'nearest'});
    }
  };
  const tools = document.getElementById('tools');
  tools.hidden = false;
  tools.addEventListener('click', event => {
    const {zoom: factor, to} = event.target.dataset;
    if (factor) zoomTo(Number(factor));
    const target = to && first(to);
    if (target) target.scrollIntoView({block: 'nearest', inline: 'center'});
  });
  for (const button of tools.querySelectorAll('[data-to]')) button.hidden = !first(button.dataset.to);
  document.getElementById('rank').addEventListener('input', event => showRank(event.target.value));
  document.addEventListener('keydown', event => {
    if (event.target.tagName === 'INPUT') return;
    if (event.key === '+' || event.key === '-') zoomTo(event.key === '+' ? 2 : 0.5);
  });
  for (const box of boxes) {
    let grabbed = null;
    box.addEventListener('pointerdown', event => { grabbed = {x: event.clientX, left: box.scrollLeft}; });
    box.addEventListener('pointermove', event => {
      if (!grabbed || !event.buttons) return;
      box.classList.add('moving');
      box.scrollLeft = grabbed.left - (event.clientX - grabbed.x);
    });
    for (const end of ['pointerup', 'pointerleave'])
      box.addEventListener(end, () => { grabbed = null; box.classList.remove('moving'); });
  }
})();
