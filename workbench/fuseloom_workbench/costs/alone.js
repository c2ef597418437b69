
// Draws the panel in a page of its own, from the data that the page holds; a click selects a run.
const root = document.getElementById('costs').attachShadow({ mode: 'open' })
const place = document.createElement('div')
place.style.height = '100%'
root.append(document.getElementById('style').content.cloneNode(true), place)
const data = JSON.parse(document.getElementById('data').textContent)
helpBackend().take(data.help)
const alone = { drawn: JSON.stringify(data.drawn), look: JSON.stringify(data.look), alone: true, on() {}, send_msg() {} }
render({ model: alone, el: place })
